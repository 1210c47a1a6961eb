//! Every host function as a value, with its arguments: what is authorised and what the audit trail records.

use std::sync::Arc;

use crate::assets::AssetName;
use crate::files::path::NodePath;
use crate::grant::Access;
use crate::phase::Reach;
use crate::text::{cut, escape};

/// A call of a host function, one variant a function of the WIT.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant and field is named after its function and parameter in the WIT")]
pub enum HostCall {
    FilesObjectOpen { path: NodePath },
    FilesObjectObserve { path: NodePath, detail: Detail },
    FilesObjectRead { path: NodePath, offset: u64, length: u32 },
    FilesObjectStage { path: NodePath, content: Content, attributes: Attributes },
    FilesObjectSetAttributes { path: NodePath, attributes: Attributes },
    FilesObjectMakeDirectory { path: NodePath, attributes: Attributes },
    FilesObjectMakeSymlink { path: NodePath, target: Vec<u8>, attributes: Attributes },
    FilesObjectRemove { path: NodePath, recursive: bool },
    FilesStagedCommit { path: NodePath },
    FilesDiscardStaged { path: NodePath, staging_name: String },
    AssetsSize { asset: AssetName },
    AssetsRead { asset: AssetName, offset: u64, length: u32 },
    AccountsFindUser { name: String },
    AccountsFindGroup { name: String },
    FactsGet { name: String },
    LogWrite { level: Level, bytes: usize },
    BackendsSelected,
    BackendsInspect,
    BackendsRead,
    BackendsApply,
    BackendsRefresh,
    BackendsPerform { action: String },
    BackendsRecover,
}

/// What `files.object.observe` should also find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Detail {
    /// The digest of a regular file's content.
    pub digest: bool,
}

/// Where the bytes of a staged file come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// An asset of the resource.
    Asset(AssetName),
    /// These bytes.
    Inline(Arc<[u8]>),
}

/// Ownership and permissions to set; what is none stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes {
    /// Numeric owner.
    pub owner: Option<u32>,
    /// Numeric group.
    pub group: Option<u32>,
    /// 0 to 0o7777.
    pub mode: Option<u32>,
}

/// How much a log message matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// For the module's author.
    Debug,
    /// For the operator.
    Info,
    /// The operator should look at it.
    Warning,
}

impl HostCall {
    /// Every function of the WIT that has a variant, as `INTERFACE#FUNCTION` in the WIT's own spelling.
    pub const WIT_NAMES: [&'static str; 23] = [
        "files#[static]object.open",
        "files#[method]object.observe",
        "files#[method]object.read",
        "files#[method]object.stage",
        "files#[method]object.set-attributes",
        "files#[method]object.make-directory",
        "files#[method]object.make-symlink",
        "files#[method]object.remove",
        "files#[method]staged.commit",
        "files#discard-staged",
        "assets#size",
        "assets#read",
        "accounts#find-user",
        "accounts#find-group",
        "facts#get",
        "log#write",
        "backends#selected",
        "backends#inspect",
        "backends#read",
        "backends#apply",
        "backends#refresh",
        "backends#perform",
        "backends#recover",
    ];

    /// The function's name in the WIT, as in [`HostCall::WIT_NAMES`].
    pub fn wit_name(&self) -> &'static str {
        let index = match self {
            HostCall::FilesObjectOpen { .. } => 0,
            HostCall::FilesObjectObserve { .. } => 1,
            HostCall::FilesObjectRead { .. } => 2,
            HostCall::FilesObjectStage { .. } => 3,
            HostCall::FilesObjectSetAttributes { .. } => 4,
            HostCall::FilesObjectMakeDirectory { .. } => 5,
            HostCall::FilesObjectMakeSymlink { .. } => 6,
            HostCall::FilesObjectRemove { .. } => 7,
            HostCall::FilesStagedCommit { .. } => 8,
            HostCall::FilesDiscardStaged { .. } => 9,
            HostCall::AssetsSize { .. } => 10,
            HostCall::AssetsRead { .. } => 11,
            HostCall::AccountsFindUser { .. } => 12,
            HostCall::AccountsFindGroup { .. } => 13,
            HostCall::FactsGet { .. } => 14,
            HostCall::LogWrite { .. } => 15,
            HostCall::BackendsSelected => 16,
            HostCall::BackendsInspect => 17,
            HostCall::BackendsRead => 18,
            HostCall::BackendsApply => 19,
            HostCall::BackendsRefresh => 20,
            HostCall::BackendsPerform { .. } => 21,
            HostCall::BackendsRecover => 22,
        };
        Self::WIT_NAMES[index]
    }

    /// The function's name for people: `files.object.stage`.
    pub fn name(&self) -> String {
        self.wit_name().replace('#', ".").replace("[static]", "").replace("[method]", "")
    }

    /// What kind of thing it does, which decides the phases that it may run in.
    pub fn reach(&self) -> Reach {
        match self {
            HostCall::LogWrite { .. } => Reach::Message,
            HostCall::FilesObjectOpen { .. }
            | HostCall::AccountsFindUser { .. }
            | HostCall::AccountsFindGroup { .. }
            | HostCall::FactsGet { .. }
            | HostCall::BackendsSelected
            | HostCall::BackendsInspect => Reach::Metadata,
            HostCall::FilesObjectObserve { detail, .. } if !detail.digest => Reach::Metadata,
            HostCall::FilesObjectObserve { .. }
            | HostCall::FilesObjectRead { .. }
            | HostCall::AssetsSize { .. }
            | HostCall::AssetsRead { .. }
            | HostCall::BackendsRead => Reach::Content,
            HostCall::FilesObjectStage { .. }
            | HostCall::FilesObjectSetAttributes { .. }
            | HostCall::FilesObjectMakeDirectory { .. }
            | HostCall::FilesObjectMakeSymlink { .. }
            | HostCall::FilesObjectRemove { .. }
            | HostCall::FilesStagedCommit { .. }
            | HostCall::BackendsApply
            | HostCall::BackendsRefresh => Reach::Change,
            HostCall::FilesDiscardStaged { .. } | HostCall::BackendsRecover => Reach::Cleanup,
            HostCall::BackendsPerform { .. } => Reach::Maintenance,
        }
    }

    /// Whether it changes the node.
    pub fn changes(&self) -> bool {
        matches!(self.reach(), Reach::Change | Reach::Cleanup | Reach::Maintenance)
    }

    /// The path that it is about and the access to it that it needs, for calls about files.
    pub fn path(&self) -> Option<(Access, &NodePath)> {
        match self {
            HostCall::FilesObjectOpen { path }
            | HostCall::FilesObjectObserve { path, .. }
            | HostCall::FilesObjectRead { path, .. } => Some((Access::Read, path)),
            HostCall::FilesObjectStage { path, .. }
            | HostCall::FilesObjectSetAttributes { path, .. }
            | HostCall::FilesObjectMakeDirectory { path, .. }
            | HostCall::FilesObjectMakeSymlink { path, .. }
            | HostCall::FilesObjectRemove { path, .. }
            | HostCall::FilesStagedCommit { path }
            | HostCall::FilesDiscardStaged { path, .. } => Some((Access::Write, path)),
            HostCall::AssetsSize { .. }
            | HostCall::AssetsRead { .. }
            | HostCall::AccountsFindUser { .. }
            | HostCall::AccountsFindGroup { .. }
            | HostCall::FactsGet { .. }
            | HostCall::LogWrite { .. }
            | HostCall::BackendsSelected
            | HostCall::BackendsInspect
            | HostCall::BackendsRead
            | HostCall::BackendsApply
            | HostCall::BackendsRefresh
            | HostCall::BackendsPerform { .. }
            | HostCall::BackendsRecover => None,
        }
    }

    /// The attributes that it sets.
    pub fn attributes(&self) -> Option<&Attributes> {
        match self {
            HostCall::FilesObjectStage { attributes, .. }
            | HostCall::FilesObjectSetAttributes { attributes, .. }
            | HostCall::FilesObjectMakeDirectory { attributes, .. }
            | HostCall::FilesObjectMakeSymlink { attributes, .. } => Some(attributes),
            _ => None,
        }
    }

    /// The object that it is about, escaped and cut for people. Never content.
    pub fn subject(&self) -> String {
        let subject = match self {
            HostCall::AssetsSize { asset } | HostCall::AssetsRead { asset, .. } => asset.to_string(),
            HostCall::AccountsFindUser { name } | HostCall::AccountsFindGroup { name } | HostCall::FactsGet { name } => {
                escape(name)
            }
            HostCall::LogWrite { .. } => "the log".to_owned(),
            HostCall::BackendsSelected
            | HostCall::BackendsInspect
            | HostCall::BackendsRead
            | HostCall::BackendsApply
            | HostCall::BackendsRefresh
            | HostCall::BackendsRecover => "the provider".to_owned(),
            HostCall::BackendsPerform { action } => escape(action),
            _ => self.path().map(|(_, path)| path.to_string()).unwrap_or_default(),
        };
        cut(subject, 512)
    }
}

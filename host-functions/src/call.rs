//! Every host function as a value, with its arguments: what is authorised and what the audit trail records.

use std::sync::Arc;

use crate::accounts::{GroupChange, NewGroup, NewUser, UserChange};
use crate::assets::AssetName;
use crate::files::path::NodePath;
use crate::grant::Access;
use crate::packages::{self, Change, Manager, Subject, Transaction};
use crate::phase::Reach;
use crate::processes::Command;
use crate::text::{cut, escape};
use crate::{openrc, systemd};

/// A call of a host function, one variant a function of the WIT.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant and field is named after its function and parameter in the WIT")]
pub enum HostCall {
    FilesObjectOpen { path: NodePath },
    FilesObjectObserve { path: NodePath, detail: Detail },
    FilesObjectDestination { path: NodePath },
    FilesObjectRead { path: NodePath, offset: u64, length: u32 },
    FilesObjectStage { path: NodePath, content: Content, attributes: Attributes },
    FilesObjectSetAttributes { path: NodePath, attributes: Attributes },
    FilesObjectMakeDirectory { path: NodePath, attributes: Attributes },
    FilesObjectMakeSymlink { path: NodePath, target: Vec<u8>, attributes: Attributes },
    FilesObjectRemove { path: NodePath, recursive: bool },
    FilesStagedValidate { path: NodePath, command: Command },
    FilesStagedCommit { path: NodePath },
    FilesStagedCommitKeeping { path: NodePath },
    FilesDiscardStaged { path: NodePath, staging_name: String },
    AssetsSize { asset: AssetName },
    AssetsRead { asset: AssetName, offset: u64, length: u32 },
    AccountsFindUser { name: String },
    AccountsFindGroup { name: String },
    ProcessesQuery { command: Command },
    ProcessesRun { command: Command },
    ProcessesPause { milliseconds: u64 },
    AccountsReadUser { name: String },
    AccountsReadGroup { name: String },
    AccountsReadLogin { name: String },
    AccountsPasswordMatches { name: String, secret: AssetName },
    AccountsCreateUser { name: String, user: NewUser },
    AccountsChangeUser { name: String, change: UserChange },
    AccountsDeleteUser { name: String },
    AccountsCreateGroup { name: String, group: NewGroup },
    AccountsChangeGroup { name: String, change: GroupChange },
    AccountsDeleteGroup { name: String },
    FactsGet { name: String },
    PackagesQuery { manager: Manager, subjects: Vec<Subject>, candidates: bool },
    PackagesIndex { manager: Manager },
    PackagesCompareVersions { manager: Manager },
    PackagesApply { manager: Manager, transaction: Transaction },
    PackagesInstallFile { manager: Manager, asset: AssetName, change: Change },
    PackagesRefreshIndex { manager: Manager },
    LogWrite { level: Level, bytes: usize },
    Systemd(systemd::Call),
    Openrc(openrc::Call),
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
    pub const WIT_NAMES: [&'static str; 67] = [
        "files#[static]object.open",
        "files#[method]object.observe",
        "files#[method]object.read",
        "files#[method]object.stage",
        "files#[method]object.set-attributes",
        "files#[method]object.make-directory",
        "files#[method]object.make-symlink",
        "files#[method]object.remove",
        "files#[method]staged.validate",
        "files#[method]staged.commit",
        "files#discard-staged",
        "assets#size",
        "assets#read",
        "accounts#find-user",
        "accounts#find-group",
        "processes#query",
        "processes#run",
        "processes#pause",
        "accounts#read-user",
        "accounts#read-group",
        "accounts#read-login",
        "accounts#password-matches",
        "accounts#create-user",
        "accounts#change-user",
        "accounts#delete-user",
        "accounts#create-group",
        "accounts#change-group",
        "accounts#delete-group",
        "facts#get",
        "packages#query",
        "packages#index",
        "packages#compare-versions",
        "packages#apply",
        "packages#install-file",
        "packages#refresh-index",
        "log#write",
        "systemd#identity",
        "systemd#status",
        "systemd#settled",
        "systemd#start",
        "systemd#stop",
        "systemd#restart",
        "systemd#reload",
        "systemd#reload-or-restart",
        "systemd#reset-failed",
        "systemd#enable",
        "systemd#disable",
        "systemd#mask",
        "systemd#unmask",
        "systemd#daemon-reload",
        "openrc#status",
        "openrc#start",
        "openrc#stop",
        "openrc#restart",
        "openrc#reload",
        "openrc#zap",
        "openrc#add",
        "openrc#remove",
        "backends#selected",
        "backends#inspect",
        "backends#read",
        "backends#apply",
        "backends#refresh",
        "backends#perform",
        "backends#recover",
        "files#[method]staged.commit-keeping",
        "files#[method]object.destination",
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
            HostCall::FilesStagedValidate { .. } => 8,
            HostCall::FilesStagedCommit { .. } => 9,
            HostCall::FilesDiscardStaged { .. } => 10,
            HostCall::AssetsSize { .. } => 11,
            HostCall::AssetsRead { .. } => 12,
            HostCall::AccountsFindUser { .. } => 13,
            HostCall::AccountsFindGroup { .. } => 14,
            HostCall::ProcessesQuery { .. } => 15,
            HostCall::ProcessesRun { .. } => 16,
            HostCall::ProcessesPause { .. } => 17,
            HostCall::AccountsReadUser { .. } => 18,
            HostCall::AccountsReadGroup { .. } => 19,
            HostCall::AccountsReadLogin { .. } => 20,
            HostCall::AccountsPasswordMatches { .. } => 21,
            HostCall::AccountsCreateUser { .. } => 22,
            HostCall::AccountsChangeUser { .. } => 23,
            HostCall::AccountsDeleteUser { .. } => 24,
            HostCall::AccountsCreateGroup { .. } => 25,
            HostCall::AccountsChangeGroup { .. } => 26,
            HostCall::AccountsDeleteGroup { .. } => 27,
            HostCall::FactsGet { .. } => 28,
            HostCall::PackagesQuery { .. } => 29,
            HostCall::PackagesIndex { .. } => 30,
            HostCall::PackagesCompareVersions { .. } => 31,
            HostCall::PackagesApply { .. } => 32,
            HostCall::PackagesInstallFile { .. } => 33,
            HostCall::PackagesRefreshIndex { .. } => 34,
            HostCall::LogWrite { .. } => 35,
            HostCall::BackendsSelected => 58,
            HostCall::BackendsInspect => 59,
            HostCall::BackendsRead => 60,
            HostCall::BackendsApply => 61,
            HostCall::BackendsRefresh => 62,
            HostCall::BackendsPerform { .. } => 63,
            HostCall::BackendsRecover => 64,
            HostCall::FilesStagedCommitKeeping { .. } => 65,
            HostCall::FilesObjectDestination { .. } => 66,
            HostCall::Systemd(call) => return call.function.wit_name(),
            HostCall::Openrc(call) => return call.function.wit_name(),
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
            // To wait touches nothing.
            HostCall::LogWrite { .. } | HostCall::ProcessesPause { .. } => Reach::Message,
            HostCall::Systemd(call) => call.function.reach(),
            HostCall::Openrc(call) => call.function.reach(),
            HostCall::FilesObjectOpen { .. }
            | HostCall::FilesObjectDestination { .. }
            | HostCall::AccountsFindUser { .. }
            | HostCall::AccountsFindGroup { .. }
            | HostCall::AccountsReadUser { .. }
            | HostCall::AccountsReadGroup { .. }
            | HostCall::PackagesCompareVersions { .. }
            | HostCall::FactsGet { .. }
            | HostCall::BackendsSelected
            | HostCall::BackendsInspect => Reach::Metadata,
            HostCall::FilesObjectObserve { detail, .. } if !detail.digest => Reach::Metadata,
            HostCall::FilesObjectObserve { .. }
            | HostCall::FilesObjectRead { .. }
            | HostCall::FilesStagedValidate { .. }
            | HostCall::PackagesQuery { .. }
            | HostCall::PackagesIndex { .. }
            | HostCall::AssetsSize { .. }
            | HostCall::AssetsRead { .. }
            | HostCall::ProcessesQuery { .. }
            | HostCall::AccountsReadLogin { .. }
            | HostCall::AccountsPasswordMatches { .. }
            | HostCall::BackendsRead => Reach::Content,
            HostCall::FilesObjectStage { .. }
            | HostCall::FilesObjectSetAttributes { .. }
            | HostCall::FilesObjectMakeDirectory { .. }
            | HostCall::FilesObjectMakeSymlink { .. }
            | HostCall::FilesObjectRemove { .. }
            | HostCall::FilesStagedCommit { .. }
            | HostCall::FilesStagedCommitKeeping { .. }
            | HostCall::ProcessesRun { .. }
            | HostCall::AccountsCreateUser { .. }
            | HostCall::AccountsChangeUser { .. }
            | HostCall::AccountsDeleteUser { .. }
            | HostCall::AccountsCreateGroup { .. }
            | HostCall::AccountsChangeGroup { .. }
            | HostCall::AccountsDeleteGroup { .. }
            | HostCall::PackagesApply { .. }
            | HostCall::PackagesInstallFile { .. }
            | HostCall::BackendsApply
            | HostCall::BackendsRefresh => Reach::Change,
            HostCall::FilesDiscardStaged { .. } | HostCall::BackendsRecover => Reach::Cleanup,
            HostCall::PackagesRefreshIndex { .. } | HostCall::BackendsPerform { .. } => Reach::Maintenance,
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
            | HostCall::FilesObjectDestination { path }
            | HostCall::FilesObjectObserve { path, .. }
            | HostCall::FilesObjectRead { path, .. } => Some((Access::Read, path)),
            HostCall::FilesObjectStage { path, .. }
            | HostCall::FilesObjectSetAttributes { path, .. }
            | HostCall::FilesObjectMakeDirectory { path, .. }
            | HostCall::FilesObjectMakeSymlink { path, .. }
            | HostCall::FilesObjectRemove { path, .. }
            | HostCall::FilesStagedValidate { path, .. }
            | HostCall::FilesStagedCommit { path }
            | HostCall::FilesStagedCommitKeeping { path }
            | HostCall::FilesDiscardStaged { path, .. } => Some((Access::Write, path)),
            HostCall::AssetsSize { .. }
            | HostCall::AssetsRead { .. }
            | HostCall::AccountsFindUser { .. }
            | HostCall::AccountsFindGroup { .. }
            | HostCall::ProcessesQuery { .. }
            | HostCall::ProcessesRun { .. }
            | HostCall::ProcessesPause { .. }
            | HostCall::AccountsReadUser { .. }
            | HostCall::AccountsReadGroup { .. }
            | HostCall::AccountsReadLogin { .. }
            | HostCall::AccountsPasswordMatches { .. }
            | HostCall::AccountsCreateUser { .. }
            | HostCall::AccountsChangeUser { .. }
            | HostCall::AccountsDeleteUser { .. }
            | HostCall::AccountsCreateGroup { .. }
            | HostCall::AccountsChangeGroup { .. }
            | HostCall::AccountsDeleteGroup { .. }
            | HostCall::FactsGet { .. }
            | HostCall::BackendsSelected
            | HostCall::BackendsInspect
            | HostCall::BackendsRead
            | HostCall::BackendsApply
            | HostCall::BackendsRefresh
            | HostCall::BackendsPerform { .. }
            | HostCall::BackendsRecover
            | HostCall::PackagesQuery { .. }
            | HostCall::PackagesIndex { .. }
            | HostCall::PackagesCompareVersions { .. }
            | HostCall::PackagesApply { .. }
            | HostCall::PackagesInstallFile { .. }
            | HostCall::PackagesRefreshIndex { .. }
            | HostCall::LogWrite { .. }
            | HostCall::Systemd(_)
            | HostCall::Openrc(_) => None,
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
            HostCall::ProcessesQuery { command } | HostCall::ProcessesRun { command } => command.shown(),
            HostCall::ProcessesPause { milliseconds } => format!("{milliseconds} ms"),
            HostCall::AccountsFindUser { name }
            | HostCall::AccountsFindGroup { name }
            | HostCall::AccountsReadUser { name }
            | HostCall::AccountsReadGroup { name }
            | HostCall::AccountsReadLogin { name }
            | HostCall::AccountsPasswordMatches { name, .. }
            | HostCall::AccountsCreateUser { name, .. }
            | HostCall::AccountsChangeUser { name, .. }
            | HostCall::AccountsDeleteUser { name }
            | HostCall::AccountsCreateGroup { name, .. }
            | HostCall::AccountsChangeGroup { name, .. }
            | HostCall::AccountsDeleteGroup { name }
            | HostCall::FactsGet { name } => escape(name),
            HostCall::PackagesQuery { subjects, .. } => packages::subjects(subjects),
            HostCall::PackagesApply { transaction, .. } => packages::changes(&transaction.changes),
            HostCall::PackagesInstallFile { change, .. } => packages::changes(std::slice::from_ref(change)),
            HostCall::PackagesIndex { manager }
            | HostCall::PackagesCompareVersions { manager }
            | HostCall::PackagesRefreshIndex { manager } => manager.name().to_owned(),
            HostCall::LogWrite { .. } => "the log".to_owned(),
            HostCall::Systemd(call) => call.subject(),
            HostCall::Openrc(call) => call.subject(),
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

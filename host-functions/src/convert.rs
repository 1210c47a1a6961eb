//! Between the types generated from the WIT and our own.

use crate::bindings::runtime::host::{files, log, types};
use crate::call::{Attributes, Content, Detail, Level};
use crate::context::HostContext;
use crate::error::{CallError, MAX_ERROR_TEXT};
use crate::files::{Kind, Observation};
use crate::text::cut;

impl types::Host for HostContext {
    fn convert_host_error(&mut self, error: CallError) -> wasmtime::Result<types::HostError> {
        use types::HostError;
        let text = |text: String| cut(text, MAX_ERROR_TEXT);
        Ok(match error {
            CallError::Denied(denial) => HostError::Denied(text(denial.to_string())),
            CallError::NotFound => HostError::NotFound,
            CallError::AlreadyExists => HostError::AlreadyExists,
            CallError::WrongKind(why) => HostError::WrongKind(text(why)),
            CallError::NotEmpty => HostError::NotEmpty,
            CallError::UnsafePath(why) => HostError::UnsafePath(text(why)),
            CallError::Changed(why) => HostError::Changed(text(why)),
            CallError::Busy(why) => HostError::Busy(text(why)),
            CallError::PermissionDenied(why) => HostError::PermissionDenied(text(why)),
            CallError::NoSpace => HostError::NoSpace,
            CallError::TooLarge(why) => HostError::TooLarge(text(why)),
            CallError::Deadline => HostError::Deadline,
            CallError::Unsupported(why) => HostError::Unsupported(text(why)),
            CallError::InvalidArgument(why) => HostError::InvalidArgument(text(why)),
            CallError::Other(why) => HostError::Other(text(why)),
            CallError::Trap(error) => return Err(error),
        })
    }
}

impl From<log::Level> for Level {
    fn from(level: log::Level) -> Self {
        match level {
            log::Level::Debug => Level::Debug,
            log::Level::Info => Level::Info,
            log::Level::Warning => Level::Warning,
        }
    }
}

impl From<files::Detail> for Detail {
    fn from(detail: files::Detail) -> Self {
        Self { digest: detail.contains(files::Detail::DIGEST) }
    }
}

impl From<files::Attributes> for Attributes {
    fn from(files::Attributes { owner, group, mode }: files::Attributes) -> Self {
        Self { owner, group, mode }
    }
}

impl TryFrom<files::Content> for Content {
    type Error = CallError;

    fn try_from(content: files::Content) -> Result<Self, CallError> {
        match content {
            files::Content::Asset(name) => name
                .parse()
                .map(Content::Asset)
                .map_err(|error: crate::assets::AssetNameError| CallError::invalid(error.to_string())),
            files::Content::Inline(bytes) if bytes.len() > crate::files::MAX_INLINE => Err(CallError::TooLarge(format!(
                "inline content has at most {} bytes, and this has {}",
                crate::files::MAX_INLINE,
                bytes.len()
            ))),
            files::Content::Inline(bytes) => Ok(Content::Inline(bytes.into())),
        }
    }
}

impl From<Observation> for files::Observation {
    fn from(observation: Observation) -> Self {
        let Observation { kind, owner, group, mode, size, links, target, digest } = observation;
        let digest = digest.map(|told| told.to_string());
        Self { kind: kind.into(), owner, group, mode, size, links, target, digest }
    }
}

impl From<Kind> for files::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::File => files::Kind::File,
            Kind::Directory => files::Kind::Directory,
            Kind::Symlink => files::Kind::Symlink,
            Kind::Fifo => files::Kind::Fifo,
            Kind::Socket => files::Kind::Socket,
            Kind::BlockDevice => files::Kind::BlockDevice,
            Kind::CharacterDevice => files::Kind::CharacterDevice,
        }
    }
}

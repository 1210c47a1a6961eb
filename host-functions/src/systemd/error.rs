//! Why systemd did not do, or tell, what was asked.

use zbus::Error as BusError;
use zbus::fdo;

/// The longest text of systemd's own that an error keeps, in characters.
const MAX_TEXT: usize = 300;

/// Why systemd did not do, or tell, what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SystemdError {
    /// This node has no systemd to ask.
    #[error("{0}")]
    Unsupported(&'static str),
    /// There is no such unit.
    #[error("there is no such unit")]
    NoSuchUnit,
    /// The unit is masked, so it cannot be started.
    #[error("the unit is masked")]
    Masked,
    /// The unit has no such operation, or may not be asked for it.
    #[error("the unit cannot do that: {0}")]
    NotApplicable(String),
    /// A link of a unit file would replace something.
    #[error("something is in the way: {0}")]
    InTheWay(String),
    /// systemd refused it.
    #[error("systemd refused it: {0}")]
    Refused(String),
    /// The bus cannot be reached, or does not say what it must.
    #[error("the bus of systemd: {0}")]
    Bus(String),
    /// The deadline has passed.
    #[error("the deadline has passed")]
    Deadline,
}

impl From<BusError> for SystemdError {
    fn from(error: BusError) -> Self {
        match error {
            BusError::MethodError(name, text, _) => refused(name.as_str(), text.as_deref().unwrap_or_default()),
            BusError::FDO(error) => standard(&error),
            other => SystemdError::Bus(cut(&other.to_string())),
        }
    }
}

/// An error of systemd's own.
fn refused(name: &str, text: &str) -> SystemdError {
    let kind = name.strip_prefix("org.freedesktop.systemd1.").unwrap_or(name);
    let said = || cut(&format!("{text} ({kind})"));
    match kind {
        "NoSuchUnit" | "NoSuchUnitFile" => SystemdError::NoSuchUnit,
        "UnitMasked" => SystemdError::Masked,
        "JobTypeNotApplicable" | "OnlyByDependency" | "TransactionIsDestructive" => SystemdError::NotApplicable(said()),
        "UnitExists" | "LinkExists" | "UnitFileExists" => SystemdError::InTheWay(said()),
        _ => SystemdError::Refused(said()),
    }
}

/// An error that any service of the bus may give.
fn standard(error: &fdo::Error) -> SystemdError {
    match error {
        fdo::Error::FileNotFound(_) => SystemdError::NoSuchUnit,
        fdo::Error::FileExists(text) => SystemdError::InTheWay(cut(text)),
        fdo::Error::ServiceUnknown(_) | fdo::Error::NameHasNoOwner(_) => {
            SystemdError::Unsupported("systemd does not answer on the system bus of this node")
        }
        fdo::Error::Timeout(_) | fdo::Error::NoReply(_) => SystemdError::Bus(cut(&error.to_string())),
        other => SystemdError::Refused(cut(&other.to_string())),
    }
}

/// What somebody else said, short and without control characters.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

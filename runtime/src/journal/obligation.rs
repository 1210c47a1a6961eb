//! Refresh obligations: "this subscriber owes a restart because that resource changed".

use super::status::{Status, words};

words! {
    /// Where an obligation stands.
    ObligationStatus {
        /// Written with the intent of the change that may bring it about.
        Pending = "pending",
        /// The change happened, or may have. It stands until closed, through failure, crash and reboot.
        Owed = "owed",
        /// Closed: nothing changed.
        Dropped = "dropped",
        /// Closed: the subscriber was refreshed.
        Refreshed = "refreshed",
        /// Closed: converging the subscriber did what a refresh would do.
        Handled = "handled",
        /// Closed: the subscriber is not ensured running.
        Suppressed = "suppressed",
        /// Closed: the subscriber is no longer in the accepted bundle.
        Orphaned = "orphaned",
    }
}

impl ObligationStatus {
    /// Whether something is still owed, or may come to be.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Owed)
    }
}

words! {
    /// Why an owed obligation is closed.
    Closing {
        /// The subscriber was refreshed.
        Refreshed = "refreshed",
        /// Converging the subscriber did what a refresh would do.
        Handled = "handled",
        /// The subscriber is not ensured running.
        Suppressed = "suppressed",
        /// The subscriber is no longer in the accepted bundle.
        Orphaned = "orphaned",
    }
}

/// What happens to an obligation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObligationEvent {
    /// The intent that it came with now stands so.
    ChangeStands(Status),
    /// It is met, or lapses.
    Closed(Closing),
}

/// Where an obligation stands after `event`; `None` if the event cannot follow.
pub fn next_obligation(status: ObligationStatus, event: ObligationEvent) -> Option<ObligationStatus> {
    match (status, event) {
        (ObligationStatus::Pending, ObligationEvent::ChangeStands(Status::NotStarted)) => Some(ObligationStatus::Dropped),
        (ObligationStatus::Pending, ObligationEvent::ChangeStands(Status::Intended)) => Some(ObligationStatus::Pending),
        // Also when recovery settled it: what it left may be a change.
        (ObligationStatus::Pending, ObligationEvent::ChangeStands(_)) => Some(ObligationStatus::Owed),
        // An intent that was partial or unknown made it owed; its resolution takes nothing back.
        (ObligationStatus::Owed, ObligationEvent::ChangeStands(Status::Recovered | Status::Abandoned)) => Some(status),
        (ObligationStatus::Owed, ObligationEvent::Closed(closing)) => Some(match closing {
            Closing::Refreshed => ObligationStatus::Refreshed,
            Closing::Handled => ObligationStatus::Handled,
            Closing::Suppressed => ObligationStatus::Suppressed,
            Closing::Orphaned => ObligationStatus::Orphaned,
        }),
        // Met while its own change was still unresolved: that stands.
        (closed, ObligationEvent::ChangeStands(Status::Recovered | Status::Abandoned)) => Some(closed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_makes_it_owed_and_only_no_change_drops_it() {
        for &status in Status::ALL {
            let after = next_obligation(ObligationStatus::Pending, ObligationEvent::ChangeStands(status));
            let expected = match status {
                Status::Intended => ObligationStatus::Pending,
                Status::NotStarted => ObligationStatus::Dropped,
                _ => ObligationStatus::Owed,
            };
            assert_eq!(after, Some(expected), "{status}");
        }
    }

    #[test]
    fn it_is_closed_once_and_only_when_owed() {
        for &closing in Closing::ALL {
            let event = ObligationEvent::Closed(closing);
            assert_eq!(next_obligation(ObligationStatus::Pending, event), None);
            let closed = next_obligation(ObligationStatus::Owed, event).expect("owed can be closed");
            assert_eq!(closed.as_str(), closing.as_str());
            assert!(!closed.is_open());
            assert_eq!(next_obligation(closed, event), None);
        }
    }
}

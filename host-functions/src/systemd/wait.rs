//! Waiting until a unit is what it will be for a while.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::error::SystemdError;
use super::manager::Manager;
use super::name::UnitName;
use super::unit::{self, Unit};

/// How often a unit is looked at again.
const LOOK: Duration = Duration::from_millis(25);

/// How long a unit is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// At most so long.
    pub patience: Duration,
    /// Until it has been in one state for so long; zero for a single look at a unit that is not on its way.
    pub steady: Duration,
}

pub(super) async fn settled(manager: &Manager, name: &UnitName, wait: Wait) -> Result<Unit, SystemdError> {
    let begin = Instant::now();
    let mut unit = unit::read(manager, name).await?;
    let mut since = begin;
    loop {
        let is_settled = !unit.is_changing() && since.elapsed() >= wait.steady;
        if is_settled || begin.elapsed() >= wait.patience {
            return Ok(unit);
        }
        sleep(LOOK.min(wait.patience.saturating_sub(begin.elapsed()))).await;
        let now = unit::read(manager, name).await?;
        if !is_same_state(&unit, &now) {
            since = Instant::now();
        }
        unit = now;
    }
}

fn is_same_state(before: &Unit, now: &Unit) -> bool {
    let state = |unit: &Unit| (unit.active_state.clone(), unit.sub_state.clone(), unit.main_pid);
    state(before) == state(now)
}

//! Who may do what with a service: whoever may do it with the unit of that name.

use super::Call;
use crate::authorize::{Rule, Standing};
use crate::objects::{self, Domain};

/// Holds a call against effects, what the module asks for and what it is granted.
pub(crate) fn permit(standing: &Standing<'_>, call: &Call) -> Result<(), Rule> {
    objects::policy::permit(standing, Domain::Unit, call.function.verb(), &call.name.unit())
}

//! Carrying out a plan.

use crate::error::{CliError, exit};
use crate::plan::Plan;

/// Runs a protein search.
///
/// # Errors
/// Always: the search pipeline is not linked.
pub fn blastp(plan: Plan) -> Result<(), CliError> {
    let _ = plan;
    Err(CliError::new(exit::ENGINE, "search pipeline not linked"))
}

//! Rules of later releases that FleetBLAST does not have. Searches that depend on one are refused.

use super::SearchProgram;
use super::format::FormatChoice;

/// Returns the option that depends on a rule that FleetBLAST does not have of the release, if one
/// is given.
pub(super) fn missing_rule(program: &dyn SearchProgram) -> Option<String> {
    let options = program.common();
    let release = options.release;
    let format = FormatChoice::parse(&options.formatting.outfmt, release).ok()?.number();
    let is_lost = match format {
        11 => release.has_later_archives,
        15 | 16 => release.psiblast_loses_alignments && program.spec().name == "psiblast",
        _ => false,
    };
    if is_lost {
        return Some(format!("-outfmt {format}"));
    }
    program.missing_rule()
}

//! What crosses to another site instead of the report.

use std::os::unix::ffi::OsStrExt;

use fleetblast_job::error::Error;
use fleetblast_job::plan::Metadata;

use super::{Host, SearchProgram, input};
use crate::expand::given::{VARIABLES, told};
use crate::options::parse::Given;
use crate::options::search::metadata::METADATA_OUT;
use crate::options::search::resources;
use crate::options::spec::Program;

/// The metadata that a search is to write, if any; `given` are its options as they were typed.
///
/// # Errors
/// A file that cannot be written.
pub fn metadata(
    program: &Program,
    search: &impl SearchProgram,
    given: &Given,
    host: &Host<'_>,
) -> Result<Option<Metadata>, Error> {
    let Some(options) = search.metadata() else { return Ok(None) };
    let Some(out) = &options.out else { return Ok(None) };
    let out = input::destination(METADATA_OUT.name(), out)?;
    if let Some(timing) = &search.common().resources.timing {
        let timing = input::destination(resources::TIMING.name(), timing)?;
        input::refuse_same_file(&out, resources::TIMING.name(), &timing)?;
    }
    let variable = |name: &&str| {
        let value = (host.variable)(name)?;
        Some(((*name).to_owned(), value.as_bytes().to_vec()))
    };
    let environment = VARIABLES.iter().filter_map(variable).collect();
    let options_told = told(program, given);
    Ok(Some(Metadata { out, kind: options.kind, options: options_told, environment }))
}

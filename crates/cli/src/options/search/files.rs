//! `CStdCmdLineArgs`: the files of queries and report.

use std::ffi::OsString;

use fleetblast_stats::release::Release;

use super::{GENERAL, QUERY as QUERIES};
use crate::options::constraint::Constraint;
use crate::options::later::Change;
use crate::options::opt::Opt;
use crate::options::spec::OptionSpec;
use crate::options::values::Values;

/// The options, in the order of the usage text.
pub const OPTIONS: &[OptionSpec] = &[QUERY.spec, OUT.spec];

/// `-query`.
pub const QUERY: Opt<OsString> =
    Opt::input("query", QUERIES, &["Input file name"]).label("input_file").default("-");

/// `-out`.
pub const OUT: Opt<OsString> = Opt::output("out", GENERAL, &["Output file name"])
    .label("output_file")
    .default("-")
    .later(&[Change::Constraint(Constraint::FileNameBelow(256)).since(&Release::V2_16_0)]);

/// Values of the options for the files of queries and report.
#[derive(Clone, Debug, PartialEq)]
pub struct FileOptions {
    /// `-query`.
    pub query: OsString,
    /// `-out`.
    pub out: OsString,
}

impl FileOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self { query: values.get(&QUERY), out: values.get(&OUT) }
    }
}

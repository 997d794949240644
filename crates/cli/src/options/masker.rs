//! Options that `segmasker` and `dustmasker` share.

use std::ffi::OsString;

use super::constraint::Kind;
use super::opt::Opt;
use super::spec::{Group, OptionSpec};

/// `-in`.
pub const IN: Opt<OsString> =
    Opt::input("in", Group::TOP, &["input file name"]).label("input_file_name").default("-");

/// `-out`.
pub const OUT: Opt<OsString> =
    Opt::output("out", Group::TOP, &["output file name"]).label("output_file_name").default("-");

/// `-infmt`. The constraint and the help differ.
pub const INFMT: Opt<OsString> =
    Opt::text("infmt", Group::TOP, &[]).label("input_format").default("fasta");

/// `-outfmt`. The constraint and the help differ.
pub const OUTFMT: Opt<OsString> =
    Opt::text("outfmt", Group::TOP, &[]).label("output_format").default("interval");

/// `-parse_seqids`.
pub const PARSE_SEQIDS: Opt<bool> =
    Opt::flag("parse_seqids", Group::TOP, &["Parse Seq-ids in FASTA input"]);

/// `-window`.
pub const WINDOW: Opt<i32> = Opt::integer("window", Group::TOP, &[]);

/// `-version-full`.
pub(super) const VERSION_FULL: OptionSpec =
    flag("version-full", &["Print extended version data;  ignore other arguments"]);
/// `-version-full-xml`.
pub(super) const VERSION_FULL_XML: OptionSpec = flag(
    "version-full-xml",
    &["Print extended version data in XML format;  ignore other arguments"],
);
/// `-version-full-json`.
pub(super) const VERSION_FULL_JSON: OptionSpec = flag(
    "version-full-json",
    &["Print extended version data in JSON format;  ignore other arguments"],
);

const fn flag(name: &'static str, help: &'static [&'static str]) -> OptionSpec {
    OptionSpec::new(name, Kind::Flag, Group::TOP, help)
}

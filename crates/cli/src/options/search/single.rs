//! Classes of one option each: `CMatrixNameArg`, `CWordThresholdArg`, `CWindowSizeArg`,
//! `CGappedArgs`, `CRemoteArgs`.

use std::ffi::OsString;

use super::{EXTENSION, GENERAL, MISC};
use crate::options::opt::Opt;
use crate::options::spec::Constraint;

/// `-matrix`.
pub const MATRIX: Opt<OsString> =
    Opt::text("matrix", GENERAL, &["Scoring matrix name (normally BLOSUM62)"]).label("matrix_name");

/// `-threshold`.
pub const THRESHOLD: Opt<f64> = Opt::real(
    "threshold",
    GENERAL,
    &["Minimum word score such that the word is added to the BLAST lookup table"],
)
.label("float_value")
.with_constraint(Constraint::AtLeast(0));

/// `-window_size`.
pub const WINDOW_SIZE: Opt<i32> = Opt::integer(
    "window_size",
    EXTENSION,
    &["Multiple hits window size, use 0 to specify 1-hit algorithm"],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(0));

/// `-ungapped`.
pub const UNGAPPED: Opt<bool> =
    Opt::flag("ungapped", EXTENSION, &["Perform ungapped alignment only?"]);

/// Options that `-remote`, a search at NCBI, excludes. The last one is for iterated searches only.
pub const NOT_REMOTE: [&str; 11] = [
    "gilist",
    "seqidlist",
    "taxids",
    "taxidlist",
    "negative_gilist",
    "negative_seqidlist",
    "negative_taxids",
    "negative_taxidlist",
    "subject_loc",
    "num_threads",
    "num_iterations",
];

/// Options that `-remote` excludes in `tblastn`: [`NOT_REMOTE`] with `-in_pssm` in the last place.
pub const NOT_REMOTE_WITH_PSSM: [&str; 11] = {
    let mut options = NOT_REMOTE;
    options[10] = "in_pssm";
    options
};

/// `-remote`.
pub const REMOTE: Opt<bool> = Opt::flag("remote", MISC, &["Execute search remotely?"])
    .excludes(NOT_REMOTE.split_at(10).0)
    .unsupported();

//! Classes of one option each: `CMatrixNameArg`, `CWordThresholdArg`, `CWindowSizeArg`,
//! `CGappedArgs`, `CRemoteArgs`.

use std::ffi::OsString;

use fleetblast_stats::release::Release;

use super::{EXTENSION, GENERAL, MISC};
use crate::options::constraint::Constraint;
use crate::options::later::Change;
use crate::options::opt::Opt;

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

/// Options that `-remote`, a search at NCBI, excludes. The last two are for iterated searches only.
const NOT_REMOTE: [&str; 12] = [
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
    "in_pssm",
];

/// Options that `-remote` excludes in `tblastn`.
const NOT_REMOTE_OF_TBLASTN: [&str; 11] = {
    let mut options = [NOT_REMOTE[11]; 11];
    options.split_at_mut(10).0.copy_from_slice(NOT_REMOTE.split_at(10).0);
    options
};

/// Options that `-remote` excludes in `blastn` since 2.17.0.
const NOT_REMOTE_OF_BLASTN: [&str; 11] = {
    let mut options = ["window_masker_db"; 11];
    options.split_at_mut(9).0.copy_from_slice(NOT_REMOTE.split_at(9).0);
    options[10] = NOT_REMOTE[9];
    options
};

/// `-remote`.
pub const REMOTE: Opt<bool> = Opt::flag("remote", MISC, &["Execute search remotely?"])
    .excludes(NOT_REMOTE.split_at(10).0)
    .unsupported();

/// `-remote` of `blastn`.
pub const REMOTE_OF_BLASTN: Opt<bool> =
    REMOTE.later(&[Change::Excludes(&NOT_REMOTE_OF_BLASTN).since(&Release::V2_17_0)]);

/// `-remote` of `tblastn`.
pub const REMOTE_OF_TBLASTN: Opt<bool> = REMOTE.excludes(&NOT_REMOTE_OF_TBLASTN);

/// `-remote` of `psiblast`. BLAST+ does not iterate searches at NCBI.
pub const REMOTE_OF_PSIBLAST: Opt<bool> = REMOTE
    .excludes(NOT_REMOTE.split_at(11).0)
    .later(&[Change::Excludes(&NOT_REMOTE).since(&Release::V2_16_0)]);

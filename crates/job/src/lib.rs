//! A search from its plan to a finished report: queries in, blocks through the two phases of the search, reports out.
//!
//! A [`Plan`](plan::Plan) says what to do, [`run`] does it: in this process alone, or on ranks. Options and
//! terminals are not known here: whoever makes the plan may have read it from a command line, a file or a test, and who is told
//! how far the job is, and what is odd, is an [`Audience`](audience::Audience).
//!
//! | modules | are for |
//! | --- | --- |
//! | `alone` | a search without ranks: both phases on the threads of this process |
//! | `ranks` | a search by many ranks: what they do (`works`), who drives their roles (`driver`), how messages travel (`transport`, `wire`), what processes do together over MPI (`processes`) |
//! | [`metadata`] | what crosses to another site instead of the report, and the report made of it there |
//! | [`sites`] | a search and its report by ranks of one job at two sites |
//! | `iteration` | what each search of a query that is searched again and again brings about |
//! | `queries`, `batching`, `subjects`, `patterns`, `scan`, `reporting`, [`output`] | what both have in common, from FASTA to the named file |
//! | [`records`] | a report that is kept as records, put together |
//! | [`timing`], [`trace`] | records: where the time went, what each rank did when |
//! | [`standard`], [`interrupt`], [`last_works`] | the process: its standard streams, the signals, the want of memory and the changed files that end it |

mod allowed_cpus;
mod alone;
pub mod audience;
mod batching;
mod digest;
pub mod error;
mod fasta;
mod fingerprint;
mod halt;
pub mod interrupt;
mod iteration;
pub mod last_works;
pub mod metadata;
pub mod output;
mod patterns;
pub mod plan;
mod queries;
mod ranks;
pub mod records;
mod reporting;
mod run;
mod scan;
pub mod sites;
pub mod standard;
mod subjects;
#[cfg(test)]
mod testing;
pub mod threads;
pub mod timing;
pub mod trace;

pub use self::allowed_cpus::allowed_cpus;
pub use self::ranks::{regular_file, stand_aside, wrap};
pub use self::run::run;

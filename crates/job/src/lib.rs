//! A search from its plan to a finished report: queries in, blocks through the two phases of the search, reports out.
//!
//! A [`Plan`](plan::Plan) says what to do, [`run`] does it: in this process alone, or on ranks. Options and
//! terminals are not known here: whoever makes the plan may have read it from a command line, a file or a test, and who is told
//! how far the job is, and what is odd, is an [`Audience`](audience::Audience).
//!
//! | modules | are for |
//! | --- | --- |
//! | [`plan`] | what to do, as plain data |
//! | `queries`, `batching`, `subjects` | what is searched with and in, from FASTA and databases |
//! | `search` | a block of queries searched in this process: both phases on its threads |
//! | `iteration` | queries that are searched again with what was found |
//! | `reports`, [`output`], [`records`] | what is reported of a block, and where it goes |
//! | [`metadata`], `cost`, `crossing` | what goes to another site instead, what that costs, and how it gets to I/O ranks |
//! | [`hits`] | a query and its hits as values, for [`visit_hits`] |
//! | `alone` | a job in this process without ranks |
//! | `ranks` | a job of many ranks: what they do (`execution`), who drives their roles (`driver`), how messages travel (`transport`, `wire`), what they agree on over MPI (`processes`) |
//! | `processes` | whether processes that were started together all search |
//! | [`sites`] | a search and its report by ranks of one job at two sites |
//! | [`timing`], [`trace`] | where the time went, what each rank did when |
//! | [`standard`], [`interrupt`], [`last_works`] | the process: its standard streams, the signals, the want of memory and the changed files that end it |

mod allowed_cpus;
mod alone;
pub mod audience;
mod batching;
mod cost;
mod crossing;
mod digest;
pub mod error;
mod fasta;
mod fingerprint;
mod halt;
pub mod hits;
mod inputs;
pub mod interrupt;
mod iteration;
pub mod last_works;
pub mod metadata;
pub mod output;
pub mod plan;
mod processes;
mod queries;
mod ranks;
pub mod records;
mod reports;
mod run;
mod search;
pub mod sites;
pub mod standard;
mod subjects;
#[cfg(test)]
mod testing;
pub mod threads;
pub mod timing;
pub mod trace;

pub use self::allowed_cpus::allowed_cpus;
pub use self::processes::stand_aside;
pub use self::ranks::{regular_file, wrap};
pub use self::run::{run, visit_hits};

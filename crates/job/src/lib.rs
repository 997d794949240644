//! Runs jobs from the plan to the finished report.
//!
//! A [`Plan`](plan::Plan) describes a job; [`run`] runs it in this process alone, or on ranks. The
//! crate does not depend on command lines and terminals: a plan may come from a command line, a
//! file or a test, and an [`Audience`](audience::Audience) receives progress and messages.
//!
//! | modules | are for |
//! | --- | --- |
//! | [`plan`] | what to do, as plain data |
//! | `queries`, `batching`, `subjects` | queries and subjects, from FASTA and databases |
//! | `search` | both phases of the search of a block, in this process |
//! | `iteration` | the iterations of psiblast |
//! | `reports`, [`output`], [`records`] | the report of a block, and its destination |
//! | [`metadata`], `cost`, `io_channel` | metadata for another site, their costs, I/O ranks |
//! | [`hits`] | a query and its hits as values, for [`visit_hits`] |
//! | `alone` | a job in this process without ranks |
//! | `ranks` | a job on ranks: roles, messages, scheduling, checkpoints; `execution` runs them |
//! | `processes` | processes that were started together: their roles and collective steps |
//! | [`sites`] | a search and its report on ranks of one job at two sites |
//! | [`timing`], [`trace`] | times of the phases, timelines of the ranks |
//! | [`standard`], [`interrupt`], [`cleanup`] | the process: streams, signals, early ends |

mod allowed_cpus;
mod alone;
mod archived;
pub mod audience;
mod batching;
pub mod cleanup;
mod cost;
mod digest;
pub mod error;
mod fasta;
mod fingerprint;
mod halt;
pub mod hits;
mod inputs;
pub mod interrupt;
mod io_channel;
mod iteration;
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
pub use self::archived::{ArchiveReport, ArchivedSearch};
pub use self::fasta::empty_subject_message;
pub use self::processes::announce_refusal;
pub use self::ranks::{regular_file, wrap};
pub use self::run::{run, visit_hits};
pub use self::subjects::SubjectDatabase;

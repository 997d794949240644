//! The command line of FleetBLAST: BLAST+'s options over the FleetBLAST engine.
//!
//! [`options`] reads what was typed exactly as BLAST+ reads it, [`plan`] turns it into what to do, which a
//! [job](fleetblast_job) does; the [`terminal`] shows how far that is.
//! `-h` and `-help` under the name `blastp` are BLAST+'s texts, but for the default of `-num_threads`
//! and two sections at the end of `-help`: FleetBLAST's own options, and what it does not support.
//! As `fleetblast blastp` the usage text lists the own options too, and marks what is not supported.

pub mod blastdbcmd;
mod cat;
mod changed_files;
pub mod cpus;
mod crossing;
pub mod dbcheck;
pub mod doctor;
mod ending;
pub mod expand;
pub mod generate;
mod hint;
mod keygen;
pub mod makeblastdb;
pub mod memory;
mod messages;
pub mod options;
pub mod plan;
pub mod program;
mod receive;
pub mod report;
mod search_programs;
pub mod simulate;
mod sites;
pub mod terminal;
pub mod threads;
mod wrap;

//! The command line of FleetBLAST: BLAST+'s options for the FleetBLAST engine.
//!
//! [`options`] parses a command line exactly as BLAST+ does. [`plan`] turns the options into a
//! plan, which a [job](fleetblast_job) carries out, and [`terminal`] shows its progress.
//!
//! Under the name `blastp`, `-h` and `-help` print BLAST+'s texts with two differences. The default
//! of `-num_threads` is another one. The end of `-help` has two further sections: FleetBLAST's own
//! options, and the unsupported ones. As `fleetblast blastp` the usage text lists the own options
//! too, and marks unsupported ones.

pub mod blast_formatter;
pub mod blastdb_aliastool;
mod blastdbcheck;
pub mod blastdbcmd;
mod cat;
mod conffile;
pub mod cpus;
mod crossing;
mod database_metadata;
mod dates;
pub mod dbcheck;
pub mod doctor;
mod ending;
mod exceptions;
pub mod expand;
pub mod generate;
mod hint;
mod installed_blast;
mod keygen;
mod listed_databases;
mod logfile;
pub mod makeblastdb;
pub mod masker;
pub mod memory;
mod messages;
pub mod options;
mod panics;
pub mod plan;
pub mod program;
mod receive;
pub mod report;
mod search_programs;
pub mod simulate;
mod sites;
mod stored_defline;
mod stored_search;
mod strategy;
mod stream_number;
mod taxa;
pub mod terminal;
mod text_file;
pub mod threads;
mod wrap;

//! The options of the programs: a table for each, the parser that reads a command line by it, and the help texts made
//! from it.
//!
//! A program is a [`spec::Program`] in a file of its own, such as [`blastp`]. [`parse`] reads a command line by it,
//! [`usage`] prints its help, [`values`] gives what was typed in the types of the table.

pub mod blastdbcmd;
pub mod blastp;
pub mod dbcheck;
pub mod doctor;
pub mod generate;
pub mod makeblastdb;
pub mod nearest;
pub mod number;
pub mod parse;
pub mod report;
pub mod simulate;
pub mod spec;
pub mod typed;
pub mod usage;
pub mod values;

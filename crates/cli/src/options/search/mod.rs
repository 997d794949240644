//! Options of the search programs, in the classes of BLAST+ (`blast_args.cpp`). A program has some
//! of the classes, in its own order.
//!
//! Each class is a file: its options, their order in the usage text, and a type for their values. A
//! property that differs between programs (a default, a minimum) is an argument of the class.

pub mod common;
pub mod composition;
pub mod database;
pub mod files;
pub mod filtering;
pub mod fleet;
pub mod formatting;
pub mod generic;
pub mod hsps;
pub mod megablast;
pub mod metadata;
pub mod nucleotide;
pub mod program;
pub mod protein;
pub mod psi;
pub mod query;
pub mod resources;
pub mod single;
pub mod strategy;
pub mod task;
pub mod threads;
pub mod translation;

use super::spec::Group;

/// Sections of the help text, in its order.
pub const GROUPS: &[Group] = &[
    QUERY,
    GENERAL,
    SUBJECT_SEQUENCES,
    FORMAT,
    FILTER,
    RESTRICT,
    DISCONTIGUOUS,
    STATISTICS,
    STRATEGY,
    EXTENSION,
    MISC,
    PSI_BLAST,
    PSI_TBLASTN,
    PSSM_ENGINE,
    PHI_BLAST,
    Group::FLEETBLAST,
];

const QUERY: Group = Group("Input query options");
const GENERAL: Group = Group("General search options");
const SUBJECT_SEQUENCES: Group = Group("BLAST-2-Sequences options");
pub(super) const FORMAT: Group = Group("Formatting options");
const FILTER: Group = Group("Query filtering options");
pub(super) const RESTRICT: Group = Group("Restrict search or results");
const DISCONTIGUOUS: Group = Group("Discontiguous MegaBLAST options");
const STATISTICS: Group = Group("Statistical options");
const STRATEGY: Group = Group("Search strategy options");
const EXTENSION: Group = Group("Extension options");
pub(super) const MISC: Group = Group("Miscellaneous options");
const PSI_BLAST: Group = Group("PSI-BLAST options");
const PSI_TBLASTN: Group = Group("PSI-TBLASTN options");
const PSSM_ENGINE: Group = Group("PSSM engine options");
const PHI_BLAST: Group = Group("PHI-BLAST options");

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
pub mod outfmt;
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

/// Sections of the help text, in the order in which BLAST+ creates them
/// (`CBlastAppArgs::SetCommandLine`, blast_args.cpp).
pub const GROUPS: &[Group] = &[
    QUERY,
    GENERAL,
    DATABASE,
    SUBJECT_SEQUENCES,
    FORMAT,
    FILTER,
    RESTRICT,
    DISCONTIGUOUS,
    STATISTICS,
    STRATEGY,
    EXTENSION,
    MISC,
    Group::FLEETBLAST,
];

/// The sections of `psiblast`.
pub const GROUPS_OF_PSIBLAST: &[Group] = &with_groups::<16>(&[PSI_BLAST, PSSM_ENGINE, PHI_BLAST]);

/// The sections of `tblastn`.
pub const GROUPS_OF_TBLASTN: &[Group] = &with_groups::<14>(&[PSI_TBLASTN]);

/// Inserts sections before that of FleetBLAST, which is the last one.
const fn with_groups<const N: usize>(own: &[Group]) -> [Group; N] {
    let mut groups = [Group::FLEETBLAST; N];
    let common = GROUPS.len() - 1;
    assert!(N == common + own.len() + 1);
    let mut at = 0;
    while at < N - 1 {
        groups[at] = if at < common { GROUPS[at] } else { own[at - common] };
        at += 1;
    }
    groups
}

const QUERY: Group = Group("Input query options");
const GENERAL: Group = Group("General search options");
/// A section without options, which counts in `-xmlhelp`.
const DATABASE: Group = Group("BLAST database options");
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

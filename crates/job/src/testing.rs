//! A plan for unit tests.

use std::path::Path;

use fleetblast_db::SequenceKind;
use fleetblast_engine::params::{NucleotideParams, Params};
use fleetblast_stats::nucleotide::NucleotideScoring;
use fleetblast_stats::program::{BlastProgram, ReportedProgram};
use fleetblast_stats::release::Release;

use crate::plan::{BatchSize, Citations, Plan};

/// Plans a megablast search with its defaults in a database that does not exist.
pub fn megablast(queries: &Path) -> Plan {
    let scoring = NucleotideScoring::new(1, -2, 0, 0).expect("known scores");
    let params = NucleotideParams::megablast(&Release::V2_12_0, scoring);
    Plan {
        program: BlastProgram::Blastn.name().to_owned(),
        reported_program: ReportedProgram::Command(BlastProgram::Blastn),
        query_kind: SequenceKind::Nucleotide,
        subject_kind: SequenceKind::Nucleotide,
        batch_size: BatchSize::Adaptive { max_letters: params.chunk as i32 - 1000 },
        params: Params::Nucleotide(params),
        matrix_name: String::new(),
        citations: Citations::Megablast,
        ..Plan::blastp("db", queries)
    }
}

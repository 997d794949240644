//! The plan of a job without options.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fleetblast_db::SequenceKind;
use fleetblast_db::load::LoaderRequest;
use fleetblast_engine::kernel::Kernel;
use fleetblast_engine::params::{Params, ProteinParams};
use fleetblast_fleet::config::Config;
use fleetblast_fleet::plan::UserSettings;
use fleetblast_stats::program::{BlastProgram, ReportedProgram};
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;

use super::{
    BatchSize, Citations, Codec, Destination, Fleet, Format, Plan, Report, Source, Subjects,
    ThreadDivision,
};
use crate::threads::{ThreadSource, Threads};

const MATRIX: &str = "BLOSUM62";
/// Residues of queries in a batch of blastp (`GetQueryBatchSize`, blast_input_aux.cpp).
pub const BLASTP_BATCH: usize = 10_000;

impl Plan {
    /// Plans `blastp -db DATABASE -query QUERIES -outfmt 6` with the defaults of BLAST+: BLOSUM62,
    /// e-values up to 10, at most 500 subjects. It uses one thread, and the report goes to
    /// standard output.
    ///
    /// # Panics
    /// Never: the default scoring system is known.
    pub fn blastp(database: impl Into<String>, queries: impl Into<PathBuf>) -> Plan {
        let release = &Release::V2_12_0;
        let scoring = ScoringSystem::new(release, MATRIX, None, None).expect("a known matrix");
        Plan {
            program: BlastProgram::Blastp.name().to_owned(),
            reported_program: ReportedProgram::Command(BlastProgram::Blastp),
            query_kind: SequenceKind::Protein,
            subject_kind: SequenceKind::Protein,
            params: Params::Protein(ProteinParams::blastp(release, scoring)),
            delayed_option_error: None,
            matrix_name: MATRIX.to_owned(),
            subjects: Subjects::Database(database.into()),
            restriction: None,
            database_mask: None,
            dbsize: None,
            query: Source::File(queries.into()),
            query_range: None,
            parse_deflines: false,
            batch_size: BatchSize::Fixed(BLASTP_BATCH),
            late_error: None,
            thread_letters: Some(BLASTP_BATCH),
            citations: Citations::Blastp,
            identity_resets_composition: false,
            initial_pssm: None,
            iteration: None,
            report: Report::tabular(),
            out: Destination::Stdout,
            strategy: None,
            metadata: None,
            threads: Threads { count: 1, source: ThreadSource::NumThreads, cpus: 1 },
            split: ThreadDivision::Database,
            partitions: None,
            fleet: Fleet::alone(),
            load: LoaderRequest::default(),
            kernel: Kernel::detect(),
            timing: None,
        }
    }
}

impl Report {
    /// Creates the plan of a report in the format `-outfmt 6`.
    pub fn tabular() -> Report {
        Report {
            archive: Default::default(),
            format: Format::Tabular,
            columns: String::new(),
            command: Vec::new(),
            delimiter: None,
            html: false,
            show_gis: false,
            line_length: 60,
            num_descriptions: 500,
            num_alignments: 500,
            sort_hits: None,
            sort_hsps: None,
            lacks_sequences: false,
        }
    }
}

impl Fleet {
    /// Creates the settings of a job in one process without ranks.
    pub fn alone() -> Fleet {
        Fleet {
            ranks: None,
            dry_run: false,
            user_settings: UserSettings::default(),
            config: Config::default(),
            checkpoint: None,
            codec: Codec::default(),
            trace: None,
            report_options: BTreeMap::new(),
            equal_options: BTreeMap::new(),
            sequence_list_option: None,
        }
    }
}

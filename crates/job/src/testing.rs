//! A plan made by hand, and an audience that hears nothing.

use std::collections::BTreeMap;
use std::path::Path;

use fleetblast_db::SequenceKind;
use fleetblast_db::load::Wish;
use fleetblast_engine::kernel::Kernel;
use fleetblast_engine::params::{NucleotideParams, Params};
use fleetblast_fleet::config::Config;
use fleetblast_fleet::plan::Wishes;
use fleetblast_stats::nucleotide::NucleotideScoring;
use fleetblast_stats::release::Release;

use crate::plan::{
    BatchSize, Codec, Destination, Fleet, Format, Plan, Report, Source, Split, Subjects, papers,
};
use crate::threads::{ThreadSource, Threads};

/// A search of nucleotides in a database that is not there, with the defaults of megablast.
pub fn megablast(queries: &Path) -> Plan {
    let scoring = NucleotideScoring::new(1, -2, 0, 0).expect("known scores");
    let params = NucleotideParams::megablast(&Release::V2_12_0, scoring);
    Plan {
        program: "blastn",
        banner: "BLASTN 2.12.0+".to_owned(),
        query_kind: SequenceKind::Nucleotide,
        subject_kind: SequenceKind::Nucleotide,
        batch_size: BatchSize::Adaptive { most: params.chunk as i32 - 1000 },
        batch_size_error: None,
        params: Params::Nucleotide(params),
        refusal: None,
        matrix_name: String::new(),
        subjects: Subjects::Database("db".to_owned()),
        restriction: None,
        database_mask: None,
        dbsize: None,
        query: Source::File(queries.to_owned()),
        query_range: None,
        parse_deflines: false,
        thread_letters: 10_000,
        papers: papers::MEGABLAST,
        identity_resets_composition: false,
        iteration: None,
        report: Report {
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
        },
        out: Destination::Stdout,
        threads: Threads { count: 1, source: ThreadSource::NumThreads, cpus: 1 },
        split: Split::Database,
        partitions: None,
        fleet: Fleet {
            ranks: None,
            dry_run: false,
            wishes: Wishes::default(),
            config: Config::default(),
            checkpoint: None,
            codec: Codec::default(),
            trace: None,
            decisive: BTreeMap::new(),
            common: BTreeMap::new(),
            list: None,
        },
        load: Wish::default(),
        metadata: None,
        kernel: Kernel::detect(),
        timing: None,
    }
}

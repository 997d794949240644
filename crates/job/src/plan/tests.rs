//! Tests that plans are plain data: encoding and decoding does not change them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fleetblast_db::restrict::{ListEntries, Restriction};
use fleetblast_engine::params::{HspFilter, NucleotideParams, ProteinParams};
use fleetblast_engine::pattern::{Pattern, PatternSearch};
use fleetblast_engine::pssm::Pssm;
use fleetblast_link::Fingerprint;
use fleetblast_metadata::EncodingChoice;
use fleetblast_metadata::header::OptionValue;
use fleetblast_report::scoremat::PssmDescription;
use fleetblast_seq::id::ObjectId;
use fleetblast_seq::seg::SegParams;
use fleetblast_stats::pattern::PatternStatistics;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;

use super::*;
use crate::testing::megablast;

/// Checks that encoding and decoding a plan returns the same plan.
fn check_round_trip(plan: &Plan) {
    let bytes = postcard::to_allocvec(plan).expect("a plan can be encoded");
    let decoded: Plan = postcard::from_bytes(&bytes).expect("a plan can be decoded");
    assert_eq!(format!("{decoded:?}"), format!("{plan:?}"));
    assert_eq!(postcard::to_allocvec(&decoded).expect("a plan can be encoded"), bytes);
}

fn blastp() -> Plan {
    Plan::blastp("db", "queries.fa")
}

/// Parameters of a search with a matrix.
fn protein(matrix: &str) -> ProteinParams {
    let release = &Release::V2_12_0;
    let scoring = ScoringSystem::new(release, matrix, None, None).expect("a known matrix");
    ProteinParams::blastp(release, scoring)
}

#[test]
fn plans_with_default_parameters() {
    check_round_trip(&blastp());
    check_round_trip(&megablast(Path::new("queries.fa")));
}

#[test]
fn plans_with_other_inputs_and_outputs() {
    let plan = Plan {
        subjects: Subjects::Fasta {
            source: Source::Stdin,
            name: "-".to_owned(),
            range: Some(3..usize::MAX),
        },
        restriction: Some(Restriction::new(ListEntries::Taxids(vec![9606, -1]), true)),
        database_mask: Some(DatabaseMask {
            algorithm: MaskAlgorithm::Name("seg".to_owned()),
            has_hard_masks: true,
        }),
        dbsize: Some(-7),
        query_range: Some(0..9),
        late_error: Some(Error::silent(75)),
        out: Destination::Records("records".into()),
        metadata: Some(Metadata {
            out: MetadataDestination::Link(Link {
                address: "host:1".to_owned(),
                key: "key".into(),
                peers: vec!["0f".repeat(32).parse::<Fingerprint>().expect("64 digits")],
                give_up: Some(Duration::from_millis(1500)),
            }),
            encodings: EncodingChoice::Cheapest,
            limit: f64::INFINITY,
            options: vec![("evalue".to_owned(), OptionValue::Real(-0.0))],
            environment: vec![("NCBI".to_owned(), vec![0, 255])],
        }),
        fleet: Fleet {
            ranks: Some(4),
            report_options: BTreeMap::from([("-seg".to_owned(), "no".to_owned())]),
            ..Fleet::alone()
        },
        ..blastp()
    };
    check_round_trip(&plan);
}

#[test]
fn plans_with_other_parameters() {
    let mut params = protein("PAM30");
    params.common.filter = HspFilter::BestHit { overhang: 0.1, edge: 0.2 };
    params.common.search_space = Some(i64::MIN);
    params.seg = Some(SegParams::QUERY);
    check_round_trip(&Plan { params: Params::Protein(params), ..blastp() });
    let megablast = megablast(Path::new("queries.fa"));
    let repeats = NucleotideParams::repeats(&Release::V2_12_0).expect("known scores");
    check_round_trip(&Plan { params: Params::Nucleotide(repeats), ..megablast });
}

#[test]
fn plans_of_iterated_searches_and_of_patterns() {
    let mut params = protein("BLOSUM62");
    let blocks =
        (params.scoring.ideal_parameters, params.scoring.gapped_statistics.karlin_parameters());
    let initial_pssm = InitialPssm {
        pssm: Arc::new(Pssm::of_statistics(blocks.0, blocks.1)),
        lacks_ungapped: true,
        description: PssmDescription {
            id: ObjectId::Text(b"query".to_vec()),
            title: None,
            has_text_residues: true,
            has_intermediate_data: false,
            matrix_name: "BLOSUM62".to_owned(),
            gap_costs: Some((11, 1)),
            pseudocount: 0,
        },
    };
    let iteration = IterationPlan {
        max_iterations: None,
        params: params.clone(),
        resets_composition: true,
        pseudocount: 0,
        fault: Some(Error::partner_ended()),
        warnings: vec!["odd".to_owned()],
        checkpoint: Some("matrix.asn".into()),
        table: None,
        save_last: true,
        save_each: false,
    };
    let initial_pssm = Some(initial_pssm);
    check_round_trip(&Plan { iteration: Some(iteration), initial_pssm, ..blastp() });
    for typed in ["[LIVM]-x(2,4)-G", "A-x(0,99)-C-x(0,99)-D-x(0,99)-E"] {
        let pattern = Pattern::parse(typed).expect("a pattern");
        let statistics = PatternStatistics::for_scoring(&params.scoring).expect("known costs");
        let later_scoring = Box::new(params.scoring.clone());
        params.pattern = Some(PatternSearch { pattern, statistics, later_scoring });
        check_round_trip(&Plan { params: Params::Protein(params.clone()), ..blastp() });
    }
}

#[test]
fn instructions_that_the_cpu_lacks_are_refused() {
    assert!(postcard::from_bytes::<Kernel>(b"\x04neon").is_err());
    let portable: Kernel = postcard::from_bytes(b"\x08portable").expect("every CPU has it");
    assert_eq!(portable, Kernel::Portable);
}

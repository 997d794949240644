//! Tests of the plans that [`visit_hits`] refuses.

use fleetblast_engine::params::Params;
use fleetblast_metadata::EncodingChoice;

use super::*;
use crate::plan::{Checkpoint, IterationPlan, Metadata, MetadataDestination};

fn metadata() -> Metadata {
    let (options, environment) = (Vec::new(), Vec::new());
    Metadata {
        out: MetadataDestination::Ranks(1),
        encodings: EncodingChoice::Cheapest,
        limit: 1.0,
        options,
        environment,
    }
}

fn iteration(plan: &Plan) -> IterationPlan {
    let Params::Protein(params) = &plan.params else { panic!("not a search of proteins") };
    IterationPlan {
        max_iterations: Some(2),
        params: params.clone(),
        resets_composition: false,
        pseudocount: 0,
        fault: None,
        warnings: Vec::new(),
        checkpoint: None,
        table: None,
        save_last: false,
        save_each: false,
    }
}

/// Refusals come before anything is opened: the database does not exist.
#[test]
fn plans_that_ask_for_more_than_hits_are_refused_by_name() {
    type Change = fn(&mut Plan);
    let cases: [(&str, Change); 8] = [
        ("out", |plan| plan.out = Destination::File("none/report".into())),
        ("out", |plan| plan.out = Destination::Records("none/records".into())),
        ("metadata", |plan| plan.metadata = Some(metadata())),
        ("iteration", |plan| plan.iteration = Some(iteration(plan))),
        ("fleet.ranks", |plan| plan.fleet.ranks = Some(2)),
        ("fleet.dry_run", |plan| plan.fleet.dry_run = true),
        ("fleet.checkpoint", |plan| {
            let directory = "none/kept".into();
            plan.fleet.checkpoint = Some(Checkpoint { directory, resume: false });
        }),
        ("fleet.config.strategy", |plan| plan.fleet.config.strategy = Strategy::Records),
    ];
    for (field, change) in cases {
        let mut plan = Plan::blastp("none/db", "none/queries.fa");
        change(&mut plan);
        let error = visit_hits(&plan, |_| unreachable!("nothing is searched")).unwrap_err();
        assert_eq!(error.exit_code, exit::INPUT, "{error}");
        assert!(error.message.contains(&format!("plan's `{field}`")), "{error}");
    }
}

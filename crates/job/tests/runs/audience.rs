//! Tests that a job reports to its audience only, and writes the same output alone and on ranks.

use std::fs;

use fleetblast_job::error::exit;
use fleetblast_job::plan::{BatchSize, Plan};

use crate::plans::{Heard, Place, run};

/// Returns plans of the same search alone, and on ranks of several layouts, in blocks of one batch
/// each.
fn everywhere(place: &Place) -> Vec<Plan> {
    let mut plans = Vec::new();
    for (ranks, groups) in [(None, None), (Some(1), None), (Some(3), None), (Some(4), Some(2))] {
        let mut plan = place.plan("db");
        plan.batch_size = BatchSize::Fixed(1);
        plan.fleet.ranks = ranks;
        plan.fleet.wishes.groups = groups;
        plan.fleet.wishes.block_residues = Some(1);
        plans.push(plan);
    }
    plans
}

/// Writes five queries, one of them without residues.
fn queries(place: &Place) {
    let one = String::from_utf8(fs::read(place.path("q.fa")).unwrap()).unwrap();
    let other = |number| one.replace(">q1", &format!(">q{number}"));
    let all = [one.clone(), other(2), ">empty\n".to_owned(), other(4), other(5)];
    place.write("q.fa", all.concat());
}

#[test]
fn ranks_write_what_one_process_writes_and_the_audience_hears_the_same() {
    let place = Place::new();
    queries(&place);
    let mut first: Option<(Vec<u8>, Heard)> = None;
    for plan in everywhere(&place) {
        let ranks = plan.fleet.ranks;
        let (end, heard) = run(plan);
        assert_eq!(end, Ok(()), "{ranks:?}");
        let report = fs::read(place.path("report")).unwrap();
        assert!(report.starts_with(b"q1\t"), "{ranks:?}");
        assert_eq!((heard.expected, heard.done), (Some(5), 5), "{ranks:?}: {heard:?}");
        assert_eq!((heard.finished, heard.left, heard.open.len()), (1, 0, 0), "{ranks:?}");
        let [warning] = &heard.said[..] else { panic!("{ranks:?}: {heard:?}") };
        assert!(warning.starts_with("Warning: [blastp] Query_3 empty: "), "{warning}");
        let (report_of_one, heard_of_one) = first.get_or_insert((report.clone(), heard.clone()));
        assert!(report == *report_of_one, "{ranks:?}: another report");
        assert_eq!(&heard, heard_of_one, "{ranks:?}");
    }
}

#[test]
fn what_ends_a_job_is_returned_and_not_said() {
    let place = Place::new();
    for ranks in [None, Some(2)] {
        let mut plan = place.plan("missing");
        plan.fleet.ranks = ranks;
        let (end, heard) = run(plan);
        let error = end.expect_err("there is no database");
        assert_eq!(error.exit_code, exit::DATABASE, "{ranks:?}: {error}");
        assert!(error.message.contains("missing"), "{ranks:?}: {error}");
        assert_eq!(heard, Heard { left: 1, ..Heard::default() }, "{ranks:?}");
        assert_eq!(fs::read(place.path("report")).unwrap(), b"", "{ranks:?}: an empty report");
        fs::remove_file(place.path("report")).unwrap();
    }
}

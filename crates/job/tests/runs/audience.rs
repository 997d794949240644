//! Tests that a job reports to its audience only, and that it writes the same output alone, on
//! threads and on ranks.

use std::fs;

use fleetblast_job::error::exit;
use fleetblast_job::plan::{BatchSize, Plan, ThreadDivision};

use crate::plans::{AudienceCalls, TestDirectory, run};

/// Returns plans of the same search alone, and on ranks of several layouts, in blocks of one batch
/// each.
fn plans_on_ranks(directory: &TestDirectory) -> Vec<Plan> {
    let mut plans = Vec::new();
    for (ranks, groups) in [(None, None), (Some(1), None), (Some(3), None), (Some(4), Some(2))] {
        let mut plan = directory.plan("db");
        plan.batch_size = BatchSize::Fixed(1);
        plan.fleet.ranks = ranks;
        plan.fleet.user_settings.groups = groups;
        plan.fleet.user_settings.block_residues = Some(1);
        plans.push(plan);
    }
    plans
}

/// Writes five queries, one of them without residues.
fn write_queries(directory: &TestDirectory) {
    let one = String::from_utf8(fs::read(directory.path("q.fa")).unwrap()).unwrap();
    let other = |number| one.replace(">q1", &format!(">q{number}"));
    let all = [one.clone(), other(2), ">empty\n".to_owned(), other(4), other(5)];
    directory.write("q.fa", all.concat());
}

#[test]
fn ranks_and_one_process_write_and_report_the_same() {
    let directory = TestDirectory::new();
    write_queries(&directory);
    let mut first: Option<(Vec<u8>, AudienceCalls)> = None;
    for plan in plans_on_ranks(&directory) {
        let ranks = plan.fleet.ranks;
        let (end, calls) = run(plan);
        assert_eq!(end, Ok(()), "{ranks:?}");
        let report = fs::read(directory.path("report")).unwrap();
        assert!(report.starts_with(b"q1\t"), "{ranks:?}");
        assert_eq!(
            (calls.expected_queries, calls.finished_queries),
            (Some(5), 5),
            "{ranks:?}: {calls:?}"
        );
        assert_eq!(
            (calls.completed, calls.ended_early, calls.open_blocks.len()),
            (1, 0, 0),
            "{ranks:?}"
        );
        let [warning] = &calls.lines[..] else { panic!("{ranks:?}: {calls:?}") };
        assert!(warning.starts_with("Warning: [blastp] Query_3 empty: "), "{warning}");
        let (first_report, first_calls) = first.get_or_insert((report.clone(), calls.clone()));
        assert!(report == *first_report, "{ranks:?}: another report");
        assert_eq!(&calls, first_calls, "{ranks:?}");
    }
}

#[test]
fn threads_find_the_same_whether_they_share_subjects_or_queries() {
    let directory = TestDirectory::new();
    let one = String::from_utf8(fs::read(directory.path("q.fa")).unwrap()).unwrap();
    let (_, letters) = one.split_once('\n').unwrap();
    // A query that is searched in several chunks, between others.
    let long = letters.replace('\n', "").repeat(100_000 / letters.len() + 1);
    directory.write("q.fa", format!("{one}>long\n{long}\n>q3\n{letters}"));
    let mut first: Option<Vec<u8>> = None;
    // The database has more subjects than two threads, but fewer than eight threads, and fewer than
    // the query has chunks.
    for (threads, ranks) in [(1, None), (2, None), (8, None), (8, Some(2))] {
        let mut plan = directory.plan("db");
        plan.threads.count = threads;
        plan.fleet.ranks = ranks;
        assert_eq!(run(plan).0, Ok(()));
        let report = fs::read(directory.path("report")).unwrap();
        assert!(report.split(|&byte| byte == b'\n').count() > 10, "too few hits");
        let first = first.get_or_insert_with(|| report.clone());
        assert!(report == *first, "{threads} threads, {ranks:?} ranks: another report");
    }
}

#[test]
fn the_advice_on_few_queries_for_threads_is_the_same_on_ranks() {
    let directory = TestDirectory::new();
    for mut plan in plans_on_ranks(&directory) {
        (plan.threads.count, plan.split) = (2, ThreadDivision::Queries);
        let ranks = plan.fleet.ranks;
        let (end, calls) = run(plan);
        assert_eq!(end, Ok(()), "{ranks:?}");
        let [advice] = &calls.lines[..] else { panic!("{ranks:?}: {calls:?}") };
        assert!(
            advice.starts_with("Warning: [blastp] This set of queries is too small"),
            "{advice}"
        );
    }
}

#[test]
fn an_error_is_returned_and_not_printed() {
    let directory = TestDirectory::new();
    for ranks in [None, Some(2)] {
        let mut plan = directory.plan("missing");
        plan.fleet.ranks = ranks;
        let (end, calls) = run(plan);
        let error = end.expect_err("there is no database");
        assert_eq!(error.exit_code, exit::DATABASE, "{ranks:?}: {error}");
        assert!(error.message.contains("missing"), "{ranks:?}: {error}");
        assert_eq!(
            calls,
            AudienceCalls { ended_early: 1, ..AudienceCalls::default() },
            "{ranks:?}"
        );
        assert_eq!(fs::read(directory.path("report")).unwrap(), b"", "{ranks:?}: an empty report");
        fs::remove_file(directory.path("report")).unwrap();
    }
}

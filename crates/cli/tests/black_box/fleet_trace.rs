//! Measurements of a search on many ranks: `-trace`, `-timing`, `report`, and `simulate` of the
//! trace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Output, Stdio};

use crate::sandbox::{Sandbox, message};
use serde_json::Value;

/// The trace of one rank with one block in two partitions, without times and numbers: track, slice,
/// arguments.
const GOLDEN: &str = "\
rank 0 master | merge block 0 partition 0 | block,bytes,partition
rank 0 master | merge block 0 partition 1 | block,bytes,partition
rank 0 master | merge block 0 | block,bytes,round
rank 0 master | merge block 0 | block,round
rank 0 master | prepare block 0 | block
rank 0 output | send block 0 | block,bytes
rank 0 search | align block 0 | block,hits,partitions
rank 0 search | format block 0 | block,bytes,hits,partitions
rank 0 search | load | 
rank 0 search | search block 0 partition 0 | block,bytes,hits,loaded_bytes,partition,queries,residues
rank 0 search | search block 0 partition 1 | block,bytes,hits,loaded_bytes,partition,queries,residues
rank 0 supermaster | read block 0 | block,bytes,queries,residues
rank 0 supermaster | read block 1 | block
rank 0 supermaster | write | 
rank 0 supermaster | write | bytes,stretches";

fn fleetblast(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.current_dir(sandbox.path("")).stdin(Stdio::null()).args(arguments);
    command.output().expect("the program runs")
}

fn assert_success(output: &Output) -> String {
    assert!(output.status.success(), "{}", message(output));
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// Runs a search with a trace, and returns the events of the trace.
fn trace_search(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Value> {
    let usual = ["-trace", "t.json", "-num_threads", "1", "-out", "traced"];
    assert_success(&sandbox.run(&[&usual, arguments].concat()));
    let text = fs::read(sandbox.path("t.json")).expect("a trace");
    let trace: Value = serde_json::from_slice(&text).expect("JSON");
    trace["traceEvents"].as_array().expect("events").clone()
}

fn text_of_key<'a>(event: &'a Value, key: &str) -> &'a str {
    event[key].as_str().unwrap_or_default()
}

/// Returns the names of all tracks, by their numbers.
fn tracks(events: &[Value]) -> BTreeMap<u64, String> {
    let names = events.iter().filter(|event| text_of_key(event, "name") == "thread_name");
    let name = |event: &Value| {
        (event["tid"].as_u64().expect("a number"), text_of_key(&event["args"], "name").to_owned())
    };
    names.map(name).collect()
}

#[test]
fn a_trace_of_one_rank_is_as_it_was() {
    let sandbox = Sandbox::new();
    let events = trace_search(&sandbox, &["-ranks", "1", "-partitions", "2"]);
    let tracks = tracks(&events);
    let slices = events.iter().filter(|event| event["ph"] == "X" && event["cat"] != "wait");
    let line = |event: &Value| {
        assert!(event["ts"].is_u64() && event["dur"].is_u64() && event["pid"] == 1, "{event}");
        let track = &tracks[&event["tid"].as_u64().expect("a number")];
        let keys = event["args"].as_object().map(|args| args.keys().cloned().collect());
        let keys: BTreeSet<String> = keys.unwrap_or_default();
        let keys: Vec<String> = keys.into_iter().collect();
        format!("{track} | {} | {}", text_of_key(event, "name"), keys.join(","))
    };
    let lines: BTreeSet<String> = slices.map(line).collect();
    let lines: Vec<String> = lines.into_iter().collect();
    assert_eq!(lines.join("\n"), GOLDEN);
    let counters = events.iter().filter(|event| event["ph"] == "C");
    let counters: BTreeSet<&str> = counters.map(|event| text_of_key(event, "name")).collect();
    let expected =
        ["message bytes", "messages", "result memory", "waiting output", "waiting tasks"];
    assert_eq!(
        counters,
        expected.map(|name| format!("rank 0 {name}")).iter().map(String::as_str).collect()
    );
}

#[test]
fn a_search_without_ranks_has_a_trace_that_can_be_drawn_and_simulated() {
    let sandbox = Sandbox::new();
    let plain = assert_success(&sandbox.run(&["-query", "q.fa"]));
    let events = trace_search(&sandbox, &[]);
    assert_eq!(fs::read_to_string(sandbox.path("traced")).expect("a report"), plain);
    let of = |kind: &str| events.iter().filter(|event| event["cat"] == kind).count();
    assert_eq!((of("search"), of("align"), of("format"), of("write")), (1, 1, 1, 1));
    let search = events.iter().find(|event| event["cat"] == "search").expect("a search");
    assert_eq!((&search["args"]["block"], &search["args"]["partition"]), (&0.into(), &0.into()));
    assert!(search["args"]["residues"].as_u64() > Some(0) && search["dur"].as_u64() > Some(0));
    let written = events.iter().find(|event| event["cat"] == "write").expect("a write");
    assert_eq!(written["args"]["bytes"], plain.len());
    assert!(!sandbox.names().iter().any(|name| name.ends_with(".part")), "{:?}", sandbox.names());
    assert_success(&fleetblast(&sandbox, &["report", "t.json"]));
    let page = fs::read_to_string(sandbox.path("t.html")).expect("a page");
    assert!(page.contains("1 rank searched 1 query") && !page.contains("NaN"), "{page}");
    let simulated = assert_success(&fleetblast(&sandbox, &["simulate", "-trace", "t.json"]));
    assert!(simulated.contains("1 partition, 1 block"), "{simulated}");
}

#[test]
fn every_task_is_in_the_trace_once_and_the_report_is_the_same() {
    let sandbox = Sandbox::new();
    let plain = assert_success(&sandbox.run(&[]));
    let events = trace_search(&sandbox, &["-ranks", "3", "-partitions", "3"]);
    assert_eq!(fs::read_to_string(sandbox.path("traced")).expect("a report"), plain);
    let searches = events.iter().filter(|event| event["cat"] == "search");
    let mut tasks: Vec<u64> =
        searches.map(|event| event["args"]["partition"].as_u64().expect("a number")).collect();
    tasks.sort_unstable();
    assert_eq!(tasks, [0, 1, 2]);
    assert!(!sandbox.names().iter().any(|name| name.ends_with(".part")), "{:?}", sandbox.names());
}

#[test]
fn timing_has_all_ranks() {
    let sandbox = Sandbox::new();
    assert_success(&sandbox.run(&[
        "-ranks",
        "3",
        "-partitions",
        "3",
        "-timing",
        "timing",
        "-out",
        "o",
    ]));
    let timing: Value =
        serde_json::from_slice(&fs::read(sandbox.path("timing")).expect("a file")).expect("JSON");
    let fleet = timing["fleet"].as_object().expect("a section");
    assert_eq!((&fleet["ranks"], &fleet["partitions"]), (&3.into(), &3.into()));
    for (name, spread) in fleet.iter().filter(|(_, value)| value.is_object()) {
        let [min, mean, max] = ["min", "mean", "max"].map(|key| spread[key].as_f64().expect(name));
        assert!(0.0 <= min && min <= mean && mean <= max, "{name}: {spread}");
    }
    assert_eq!(fleet["tasks"]["mean"], 1.0);
    assert_eq!(timing["queries"], 1);
    assert!(fleet["idle_seconds"]["max"].as_f64() > Some(0.0), "a rank waits for the first task");
}

#[test]
fn a_page_has_everything_in_it() {
    let sandbox = Sandbox::new();
    // Each rank holds partitions that the other one does not, and so gets a task.
    trace_search(&sandbox, &["-ranks", "2", "-partitions", "3", "-replicas", "1"]);
    assert_success(&fleetblast(&sandbox, &["report", "t.json"]));
    let page = fs::read_to_string(sandbox.path("t.html")).expect("a page");
    for part in [
        "2 ranks searched 1 query",
        "Where the time went",
        "Ranks at work",
        "What each rank did",
        "The end",
        "Tasks",
        "Output and what waited",
        "rank 1: search block 0 partition",
    ] {
        assert!(page.contains(part), "no '{part}'");
    }
    for outside in ["http", "src=", "href=", "@import", "url(", "NaN", "inf"] {
        assert!(!page.contains(outside), "'{outside}' in the page");
    }
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
    let again = fleetblast(&sandbox, &["report", "-trace", "t.json", "-out", "-"]);
    assert_eq!(assert_success(&again), page);
}

#[test]
fn what_is_no_trace_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("t.json", "{\"traceEvents\":[]}");
    for program in [&["report", "t.json"][..], &["simulate", "-trace", "t.json"]] {
        let output = fleetblast(&sandbox, program);
        let said = message(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("t.json: not a trace of a fleetblast search"), "{said}");
    }
    let missing = fleetblast(&sandbox, &["report", "no.json"]);
    assert!(message(&missing).contains("no.json"), "{}", message(&missing));
}

#[test]
fn a_trace_needs_a_file_of_its_own() {
    let sandbox = Sandbox::new();
    sandbox.assert_refused(&["-trace", "-"], 1, &["-trace needs a file"]);
    sandbox.assert_refused(&["-trace", "no/where.json"], 1, &["\"trace\". File is not accessible"]);
    let both = sandbox.run(&["-trace", "x", "-out", "x"]);
    assert_eq!(both.status.code(), Some(1));
    assert!(message(&both).contains("-out and -trace both name x"), "{}", message(&both));
}

#[test]
fn a_report_that_is_wanted_elsewhere_is_simulated_over_a_link() {
    let sandbox = Sandbox::new();
    let lines = |rate: &str| -> Vec<Value> {
        let words = format!(
            "simulate -sites -machine modern -ranks 16 -queries 500 -site_rate {rate} -site_delay 100 -json j"
        );
        let table = assert_success(&fleetblast(&sandbox, &words.split(' ').collect::<Vec<_>>()));
        assert_eq!(table.lines().count(), 6, "{table}");
        serde_json::from_slice(&fs::read(sandbox.path("j")).expect("a file")).expect("JSON")
    };
    let seconds = |line: &Value| line["report_seconds"].as_f64().expect("a number");
    let slow = lines("100K");
    let ways: Vec<_> = slow.iter().map(|line| line["way"].as_str().expect("a word")).collect();
    assert_eq!(ways, ["direct", "oids", "hits", "report"]);
    let [direct, oids, hits, report] = [0, 1, 2, 3].map(|line| seconds(&slow[line]));
    // The link transfers 183 MB in half an hour.
    assert!(direct > 1800.0 && report < direct && hits < report && oids <= hits, "{slow:?}");
    let fast = lines("10G");
    assert!(seconds(&fast[0]) < 300.0 && seconds(&fast[3]) < 300.0, "{fast:?}");
}

#[test]
fn a_traced_search_is_simulated_with_more_ranks() {
    let sandbox = Sandbox::new();
    trace_search(&sandbox, &["-ranks", "2", "-partitions", "3"]);
    let simulate = |arguments: &[&str]| {
        fleetblast(&sandbox, &[&["simulate", "-trace", "t.json"], arguments].concat())
    };
    let same = assert_success(&simulate(&[]));
    for part in
        ["2 ranks in 1 group", "3 partitions, 1 block", "of the recorded run", "busiest master"]
    {
        assert!(same.contains(part), "no '{part}' in {same}");
    }
    let many = "-ranks 8 -queries 50 -groups 2 -partitions 3 -machine modern -json j";
    let many: Vec<&str> = many.split(' ').collect();
    let first = assert_success(&simulate(&many));
    assert_eq!(first, assert_success(&simulate(&many)), "a simulation repeats itself");
    let figures: Value =
        serde_json::from_slice(&fs::read(sandbox.path("j")).expect("a file")).expect("JSON");
    assert_eq!(
        (&figures["report"]["ranks"], &figures["report"]["tasks"]),
        (&8.into(), &150.into())
    );
    let wall = figures["wall_seconds"].as_f64().expect("a number");
    // Failures end the job about three times.
    let mean = format!("{}", wall / 3.0);
    let failing = assert_success(&simulate(&[&many[..], &["-failures", &mean]].concat()));
    assert!(failing.contains("  failures"), "{failing}");
    let assumed = assert_success(&simulate(&["-ranks", "8"]));
    assert!(
        assumed.contains("assumed: 1 host of 8 ranks with 1 thread each, which share"),
        "{assumed}"
    );
    let assumed =
        assert_success(&simulate(&["-ranks", "8", "-ranks_per_host", "4", "-cores", "3"]));
    assert!(
        assumed.contains("assumed: 2 hosts of 4 ranks with 1 thread each, which share 3 cores"),
        "{assumed}"
    );
    let refused = simulate(&["-latency", "0"]);
    assert_eq!(refused.status.code(), Some(1), "{}", message(&refused));
}

/// Whatever the options, a simulation ends, and prints the reason if it has no result.
#[test]
fn extreme_options_of_simulations_are_refused() {
    let sandbox = Sandbox::new();
    let usual = ["simulate", "-machine", "modern", "-ranks", "8", "-queries", "50"];
    for (option, value) in [
        ("-failures", "1e-300"),
        ("-failures", "0.001"),
        ("-failures", "1e300"),
        ("-latency", "1e300"),
        ("-latency", "100000000"),
        ("-bandwidth", "1"),
        ("-fs_rate", "1"),
        ("-partitions", "2147483647"),
        ("-groups", "2147483647"),
        ("-replicas", "2147483647"),
    ] {
        let refused = fleetblast(&sandbox, &[&usual[..], &[option, value]].concat());
        let said = message(&refused);
        assert_eq!(refused.status.code(), Some(1), "{option} {value}: {said}");
        assert!(said.contains(option) || said.contains(&option[1..]), "{option} {value}: {said}");
    }
    for (rate, delay, named) in [("1", "0", "site_rate"), ("1G", "1e308", "site_delay")] {
        let of_sites = ["-sites", "-site_rate", rate, "-site_delay", delay];
        let refused = fleetblast(&sandbox, &[&usual[..], &of_sites].concat());
        let said = message(&refused);
        assert!(refused.status.code() == Some(1) && said.contains(named), "{said}");
    }
    for (option, value) in
        [("-cores", "2147483647"), ("-ranks_per_host", "2147483647"), ("-block_residues", "1")]
    {
        assert_success(&fleetblast(&sandbox, &[&usual[..], &[option, value]].concat()));
    }
}

#[test]
fn a_table_of_scaling_has_a_line_for_each_job() {
    let sandbox = Sandbox::new();
    let table = assert_success(&fleetblast(
        &sandbox,
        &["simulate", "-scaling", "-ranks", "4096", "-queries", "40", "-machine", "bluegene"],
    ));
    for schedule in ["dynamic", "length", "weight"] {
        assert_eq!(table.matches(&format!("    4096  {schedule}")).count(), 1, "{table}");
    }
    assert!(table.contains("The knee is before 4096 ranks"), "40 queries are few: {table}");
}

//! `blastdbcheck`: output and exit codes equal the oracle's. `difftest dbcheck` has the whole
//! table, on databases with names of taxa beside them.

use std::fs;

use crate::common::{Fixture, complaint};
use fleetblast_oracle::without_own_sections;

/// Number of runs of both programs before a difference counts: samples depend on the second.
const ATTEMPTS: usize = 3;
const NAME: &str = "blastdbcheck";
/// Command lines, whose words are separated by `|`.
const LINES: [&str; 13] = [
    "-h",
    "-help",
    "",
    "-db|p",
    "-db|p|-verbosity|4",
    "-db|p nosuch|-full|-verbosity|3",
    "-db|p|-full|-verbosity|1|-legacy",
    "-db|p|-random|1|-verbosity|4",
    "-dir|.|-verbosity|3",
    "-dir|.|-recursive|-stride|2|-logfile|log",
    "-db|p|-logfile|nosuch/log",
    "-db|p|-dir|.",
    "-db|p|-verbosity|5",
];

/// Makes a directory with a database, an alias of it and a file that a killed `makeblastdb` leaves.
fn fixture() -> Option<Fixture> {
    let fixture = Fixture::new();
    let oracle = fixture.oracle?;
    let write = |name: &str, text: &str| fs::write(fixture.path().join(name), text).unwrap();
    write("p.fa", ">a x\nMKVLAADTGHIWQERTYP\n>b y\nGGHIWQERTYPASDFGHKL\n>c z\nMKVLAADT\n");
    write("a.pal", "TITLE t\nDBLIST p\nNSEQ 3\nX\n");
    let mut command = oracle.command("makeblastdb");
    command.args(["-in", "p.fa", "-dbtype", "prot", "-parse_seqids", "-out", "p"]);
    assert!(command.current_dir(fixture.path()).output().unwrap().status.success());
    write("p.ptm", "");
    Some(fixture)
}

#[test]
fn output_is_that_of_the_oracle() {
    let Some(fixture) = fixture() else { return };
    let ours = fixture.called(NAME);
    let theirs = fixture.oracle.unwrap().program(NAME);
    let log = fixture.path().join("log");
    for line in LINES {
        let run_both = || {
            [&theirs, &ours].map(|program| {
                let output = fixture.run(program, &Fixture::words(line), &[]);
                let logged = fs::read(&log).ok();
                let _ = fs::remove_file(&log);
                (complaint(&output), without_own_sections(&output.stdout).to_vec(), logged)
            })
        };
        let mut results = run_both();
        for _ in 1..ATTEMPTS {
            if results[0] != results[1] {
                results = run_both();
            }
        }
        let [wanted, found] = results;
        assert_eq!(wanted, found, "{line}");
    }
}

#[test]
fn a_stride_without_end_is_refused() {
    let Some(fixture) = fixture() else { return };
    for stride in ["0", "-1"] {
        let line = format!("-db|p|-stride|{stride}");
        let output = fixture.run(&fixture.called(NAME), &Fixture::words(&line), &[]);
        let message = complaint(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(&format!("-stride {stride}")), "{message}");
    }
}

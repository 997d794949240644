//! `-logfile`: messages are appended to the file, and the usage text is not, as the oracle does it.

use std::fs;

use crate::common::{Fixture, complaint};

/// Command lines, whose words are separated by `|`; the first word is the program.
const LINES: [&str; 24] = [
    "blastp|-query|odd.fa|-db|db|-outfmt|6|-logfile|log",
    "blastp|-query|odd.fa|-db|db|-outfmt|6|-max_target_seqs|2|-logfile=log",
    "blastp|-query|q.fa|-db|db|-outfmt|6|-logfile|new",
    "blastp|-query|odd.fa|-db|db|-outfmt|6|-logfile|none/log",
    "blastp|-query|odd.fa|-db|db|-outfmt|6|-logfile|-",
    "blastp|-query|odd.fa|-db|db|-outfmt|6|-logfile",
    "blastp|-query|odd.fa|-db|db|-outfmt|6|-logfile|new|-logfile|log",
    "blastp|-query|odd.fa|-db|nosuch|-logfile|log",
    "blastp|-query|nosuch|-db|db|-logfile|log",
    "blastp|-query|odd.fa|-db|db|-evalue|x|-logfile|log",
    "blastp|-nosuch|-logfile|log",
    "blastp|-logfile|new|-h",
    "psiblast|-query|odd.fa|-db|db|-outfmt|6|-num_iterations|2|-logfile|log",
    "psiblast|-query|odd.fa|-db|nosuch|-logfile=log",
    "psiblast|-query|q.fa|-db|db|-outfmt|6|-num_iterations|3|-logfile|new",
    "psiblast|-nosuch|-logfile|log",
    "segmasker|-in|nosuch|-logfile|log",
    "segmasker|-foo|-logfile|log",
    "dustmasker|-in|nosuch|-infmt|blastdb|-logfile|log",
    "convert2blastmask|-in|nosuch|-masking_algorithm|seg|-masking_options|x|-logfile|log",
    "blast_formatter|-foo|-logfile|log",
    "makeblastdb|-in|s.fa|-dbtype|prot|-foo|-logfile|log",
    "blastdbcmd|-db|db|-foo|-logfile|log",
    "blastdb_aliastool|-foo|-logfile|log",
];

#[test]
fn messages_go_to_the_file_as_in_the_oracle() {
    let fixture = Fixture::new();
    let Some(oracle) = fixture.oracle else { return };
    fs::write(fixture.path().join("odd.fa"), ">a\nMKV!LAAD\n>b\n\n>c\nMKVLAADTGHIWQ\n").unwrap();
    for line in LINES {
        let words = Fixture::words(line);
        let name = words[0].to_str().unwrap();
        let [wanted, found] = [oracle.program(name), fixture.called(name)].map(|program| {
            fs::write(fixture.path().join("log"), "older\n").unwrap();
            let output = fixture.run(&program, &words[1..], &[]);
            let log = fs::read_to_string(fixture.path().join("log")).unwrap();
            let new = fs::read_to_string(fixture.path().join("new")).ok();
            let _ = fs::remove_file(fixture.path().join("new"));
            (complaint(&output), output.stdout, log, new)
        });
        assert_eq!(wanted, found, "{line}");
    }
}

#[test]
fn messages_of_makeblastdb_follow_its_log() {
    let fixture = Fixture::new();
    let Some(oracle) = fixture.oracle else { return };
    fs::write(fixture.path().join("m.xml"), "<a/>\n").unwrap();
    for options in ["-mask_data|m.xml", "-mask_data|none,m.xml", "-mask_data|none"] {
        let line = format!("-in|s.fa|-dbtype|prot|-out|made|-parse_seqids|-logfile|log|{options}");
        let name = "makeblastdb";
        let [wanted, found] = [oracle.program(name), fixture.called(name)].map(|program| {
            let output = fixture.run(&program, &Fixture::words(&line), &[]);
            let log = fs::read_to_string(fixture.path().join("log")).unwrap();
            fs::remove_file(fixture.path().join("log")).unwrap();
            let lines =
                log.lines().filter(|line| !line.contains("time") && !line.contains("econds"));
            (complaint(&output), lines.map(str::to_owned).collect::<Vec<_>>())
        });
        let lines = |log: &[String]| {
            let known = log.iter().filter(|line| !line.starts_with("Deleted existing"));
            known.cloned().collect::<Vec<_>>()
        };
        assert_eq!((wanted.0, lines(&wanted.1)), (found.0, lines(&found.1)), "{options}");
    }
}

/// In later releases only `tblastx` writes messages of searches to the file.
#[test]
fn later_releases_log_errors_of_arguments() {
    let fixture = Fixture::new();
    fs::write(fixture.path().join("odd.fa"), ">a\n\n>b\nMKVLAADTGHIWQ\n").unwrap();
    for (name, release, is_logged) in [
        ("blastp", "2.12.0", true),
        ("blastp", "2.16.0", false),
        ("tblastn", "2.17.0", false),
        ("tblastx", "2.17.0", true),
        ("psiblast", "2.12.0", false),
    ] {
        for (words, is_argument) in [("-evalue|1", false), ("-evalue|x", true)] {
            let line = format!("-query|odd.fa|-subject|odd.fa|-logfile|log|{words}");
            let variables = [("FLEETBLAST_COMPAT", release)];
            let output = fixture.run(&fixture.called(name), &Fixture::words(&line), &variables);
            let log = fs::read_to_string(fixture.path().join("log")).unwrap();
            fs::remove_file(fixture.path().join("log")).unwrap();
            let is_in_log = !log.is_empty();
            let message = format!("{name} {release} {words}: {log}{}", complaint(&output));
            assert_eq!(is_in_log, is_logged || is_argument, "{message}");
        }
    }
}

/// Ranks share one file.
#[test]
fn ranks_write_the_same_messages() {
    let fixture = Fixture::new();
    if fixture.oracle.is_none() {
        return;
    }
    fs::write(fixture.path().join("odd.fa"), ">a\nMKV!LAAD\n>b\n\n>c\nMKVLAADTGHIWQ\n").unwrap();
    let logs = ["", "|-ranks|3"].map(|ranks| {
        let line = format!("-query|odd.fa|-db|db|-logfile|log{ranks}");
        let output = fixture.run(&fixture.ours(), &Fixture::words(&line), &[]);
        assert_eq!(complaint(&output), "exit code Some(0)\n");
        let log = fs::read_to_string(fixture.path().join("log")).unwrap();
        fs::remove_file(fixture.path().join("log")).unwrap();
        log
    });
    assert_eq!(logs[0], logs[1]);
    assert!(logs[0].contains("Sequence contains no data"), "{}", logs[0]);
}

//! `blastn`: masks divide subjects as in the oracle, also masks of a single base.

use std::fs;
use std::process::Command;

use fleetblast_oracle::sample;

use crate::blastn::{Bases, COLUMNS, compare, opposite};
use crate::common::{Fixture, complaint};
use fastrand::Rng;

/// Options of searches whose words may or may not extend over masked ranges.
const SEARCHES: &[&str] = &[
    "-task|blastn",
    "-task|blastn|-word_size|7",
    "-task|blastn-short",
    "-task|megablast|-word_size|12",
    "-task|megablast|-word_size|17",
    "-task|dc-megablast",
    "-task|blastn|-ungapped",
];

/// Makes a directory with `masked.fa` (related subjects with ranges in lower case), `few.fa` (their
/// relatives), and the database `masked`.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let mut bases = Bases(Rng::with_seed(23));
    let family = bases.sequence(300);
    let (mut queries, mut subjects) = (String::new(), String::new());
    for number in 0..12 {
        let [query, mut subject] = [0, 1].map(|_| bases.mutant(&family).to_ascii_uppercase());
        let query = if number % 3 == 0 { opposite(&query) } else { query };
        queries += &format!(">q{number}\n{}\n", String::from_utf8_lossy(&query[..200]));
        // The last subjects have no masks.
        for _ in 0..bases.0.usize(..7) * usize::from(number < 10) {
            let length = [1, 1, 2, 3, 9, 30][bases.0.usize(..6)];
            let start = bases.0.usize(..subject.len() - length - 1);
            subject[start..start + length].make_ascii_lowercase();
        }
        subjects += &format!(">s{number}\n{}\n", String::from_utf8_lossy(&subject));
    }
    let write = |name: &str, text: &str| fs::write(fixture.path().join(name), text);
    write("few.fa", &queries).and_then(|()| write("masked.fa", &subjects)).expect("files");
    let Some(oracle) = fixture.oracle else { return fixture };
    for (program, line) in [
        (
            "convert2blastmask",
            "-in|masked.fa|-masking_algorithm|repeat|-masking_options|none|-outfmt|maskinfo_asn1_bin|-out|m",
        ),
        ("makeblastdb", "-in|masked.fa|-dbtype|nucl|-mask_data|m|-out|masked"),
    ] {
        let mut command = oracle.command(program);
        let made = command.args(Fixture::words(line)).current_dir(fixture.path()).output();
        let made = made.expect(program);
        assert!(made.status.success(), "{}", complaint(&made));
    }
    fixture
}

#[test]
fn masked_subjects_are_searched_as_by_the_oracle() {
    let masks = [
        "-subject|masked.fa|-lcase_masking",
        "-db|masked|-db_soft_mask|40",
        "-db|masked|-db_hard_mask|40",
    ];
    // If a format shows letters, identical bases are counted by them.
    let formats = [COLUMNS, "7 std nident", "5"];
    let lines = SEARCHES.iter().flat_map(|search| {
        masks.iter().flat_map(move |masks| {
            formats
                .map(|format| format!("-query|few.fa|{masks}|{search}|-dust|no|-outfmt|{format}"))
        })
    });
    compare(&fixture(), sample(5, lines));
}

/// Returns random bases that alternate with bases of low complexity, some of these with changes.
fn low_complexity(bases: &mut Bases) -> Vec<u8> {
    let mut sequence = Vec::new();
    for _ in 0..5 {
        let between = bases.0.usize(5..50);
        sequence.extend(bases.sequence(between));
        let unit = bases.0.usize(1..=5);
        let unit = bases.sequence(unit);
        let length = bases.0.usize(10..60);
        let stretch: Vec<u8> = unit.iter().copied().cycle().take(length).collect();
        sequence.extend(bases.mutant(&stretch).to_ascii_uppercase());
    }
    sequence
}

#[test]
fn low_complexity_is_found_on_the_strand_that_is_searched() {
    let fixture = Fixture::new();
    let mut bases = Bases(Rng::with_seed(81));
    let (mut queries, mut subjects) = (String::new(), String::new());
    for number in 0..80 {
        let query = low_complexity(&mut bases);
        let near = bases.mutant(&query).to_ascii_uppercase();
        let subject = if number % 2 == 0 { opposite(&near) } else { near };
        queries += &format!(">q{number}\n{}\n", String::from_utf8_lossy(&query));
        subjects += &format!(">s{number}\n{}\n", String::from_utf8_lossy(&subject));
    }
    let write = |name: &str, text: &str| fs::write(fixture.path().join(name), text);
    write("low.fa", &queries).and_then(|()| write("near.fa", &subjects)).expect("files");
    let strands = ["both", "plus", "minus"];
    let masks = ["-dust|yes", "-soft_masking|false", "-dust|15 40 5"];
    let lines = masks.iter().flat_map(|masks| {
        strands.map(|strand| {
            format!("-query|low.fa|-subject|near.fa|-task|blastn|-word_size|7|-evalue|1|-strand|{strand}|{masks}|-outfmt|{COLUMNS}")
        })
    });
    compare(&fixture, sample(3, lines));
}

/// The I/O site does not have the file of counts, so the search sends the report or is refused.
#[test]
fn a_file_of_counts_is_needed_at_the_search_site_only() {
    let fixture = fixture();
    let Some(oracle) = fixture.oracle else { return };
    let counts = "-in|masked.fa|-mk_counts|-unit|6|-sformat|obinary|-out|counts";
    let mut command = oracle.command("windowmasker");
    let made = command.args(Fixture::words(counts)).current_dir(fixture.path()).output();
    assert!(made.expect("windowmasker").status.success());
    let run = |line: &str| {
        let words = Fixture::words(line);
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
        command.current_dir(fixture.path()).args(words).output().expect("a run")
    };
    let search = "blastn|-query|few.fa|-db|masked|-task|blastn|-window_masker_db|counts";
    for kind in ["hits", "oids", "auto"] {
        for way in ["-metadata_out|m", "-ranks|3|-io_ranks|1|-out|r"] {
            let refused = run(&format!("{search}|{way}|-metadata|{kind}"));
            let message = complaint(&refused);
            assert_eq!(refused.status.code(), Some(1), "{kind}: {message}");
            let words = format!("blastn -window_masker_db with -metadata {kind}");
            assert!(message.contains(&words), "{message}");
            assert!(message.contains("use -metadata report"), "{message}");
        }
    }
    for format in ["0", "5"] {
        let search = format!("{search}|-outfmt|{format}");
        let report = run(&search);
        assert!(report.status.success() && report.stdout.len() > 1000, "{}", complaint(&report));
        let ranks = run(&format!("{search}|-metadata|report|-ranks|3|-io_ranks|1"));
        assert!(ranks.stdout == report.stdout, "{}", complaint(&ranks));
        let sent = run(&format!("{search}|-metadata|report|-metadata_out|m"));
        assert!(sent.status.success(), "{}", complaint(&sent));
        fs::rename(fixture.path().join("counts"), fixture.path().join("away")).expect("a file");
        for line in ["expand|m", "expand|m|-db|masked"] {
            let expanded = run(line);
            assert!(expanded.stdout == report.stdout, "{line}: {}", complaint(&expanded));
        }
        fs::rename(fixture.path().join("away"), fixture.path().join("counts")).expect("a file");
    }
}

#[test]
fn counts_of_a_taxid_are_looked_for_like_the_oracles() {
    let fixture = fixture();
    let Some(oracle) = fixture.oracle else { return };
    let directory =
        |name: &str| fs::create_dir_all(fixture.path().join(name)).expect("a directory");
    ["9606", "elsewhere/562"].into_iter().for_each(directory);
    for (subjects, out) in
        [("masked.fa", "9606/wmasker.obinary"), ("few.fa", "elsewhere/562/wmasker.obinary")]
    {
        let line = format!("-in|{subjects}|-mk_counts|-unit|6|-sformat|obinary|-out|{out}");
        let mut command = oracle.command("windowmasker");
        let made = command.args(Fixture::words(&line)).current_dir(fixture.path()).output();
        let made = made.expect("windowmasker");
        assert!(made.status.success(), "{}", complaint(&made));
    }
    let lines = |taxid: u32| {
        let search = format!("-query|few.fa|-subject|masked.fa|-window_masker_taxid|{taxid}");
        [format!("{search}|-task|blastn|-outfmt|5"), format!("{search}|-soft_masking|false")]
    };
    compare(&fixture, lines(9606));
    // There are no counts for this taxid.
    compare(&fixture, lines(10090));
    let configuration = "[WINDOW_MASKER]\nWINDOW_MASKER_PATH = elsewhere\n";
    fs::write(fixture.path().join(".ncbirc"), configuration).expect("a file");
    compare(&fixture, lines(562));
    compare(&fixture, lines(9606));
}

//! `psiblast`: refusals, masks and hit lists of iterations, and files of PSSMs equal the oracle's
//! byte for byte.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Output;

use fleetblast_oracle::sample;

use crate::common::{Fixture, complaint};
use fastrand::Rng;

/// Options with which a run ends before a search; `|` separates words.
const BEFORE: &[&str] = &[
    "-h",
    "-num_iterations|-1",
    "-num_iterations|x",
    "-msa_master_idx|1",
    "-ignore_msa_master",
    "-in_pssm|one.fa|-query|one.fa",
    "-in_msa|one.fa|-in_pssm|one.fa",
    "-query|one.fa|-db|db|-save_each_pssm",
    "-query|one.fa|-db|db|-save_pssm_after_last_round",
    "-query|one.fa|-db|db|-word_size|6",
    "-query|one.fa|-db|db|-word_size|8|-num_iterations|2",
    "-query|one.fa|-db|db|-matrix|IDENTITY",
    "-query|one.fa|-db|db|-num_iterations|2|-outfmt|19",
    "-query|one.fa|-db|db|-num_iterations|2|-pseudocount|-1",
    "-query|one.fa|-db|db|-num_iterations|2|-inclusion_ethresh|0|-outfmt|6",
    "-query|one.fa|-db|db|-pseudocount|-1|-inclusion_ethresh|-1",
];

/// Options that are refused by name, and the words of the message that name them.
const REFUSED: &[(&str, &str)] = &[
    ("-plan", "psiblast -plan"),
    ("-trace|t", "psiblast -trace"),
    ("-phi_pattern|one.fa|-query_loc|1-9", "-query_loc with -phi_pattern"),
    ("-sum_stats|true", "-sum_stats"),
    ("-num_iterations|2|-query_loc|3-20", "-query_loc with a PSSM"),
    ("-num_iterations|2|-out_pssm|p|-parse_deflines", "-parse_deflines"),
];

/// Options that mask queries in iterations. Each iteration masks a range again unless lower case
/// masked it, and the report does not show the mask.
const MASKS: &[&str] = &[
    "-num_iterations|4|-seg|yes",
    "-num_iterations|4|-seg|yes|-soft_masking|true",
    "-num_iterations|4|-seg|25 3.0 3.3",
    "-num_iterations|4|-lcase_masking",
    "-num_iterations|4|-lcase_masking|-soft_masking|true",
    "-num_iterations|4|-lcase_masking|-seg|yes",
];

/// Options for the subjects that a PSSM uses, and for those that the report shows.
const LISTS: &[&str] = &[
    "-num_iterations|3|-max_target_seqs|5",
    "-num_iterations|3|-max_target_seqs|5|-comp_based_stats|0",
    "-num_iterations|2|-max_target_seqs|1|-inclusion_ethresh|5",
    "-num_iterations|0|-sorthits|3|-max_target_seqs|20",
    "-num_iterations|2|-save_pssm_after_last_round|-max_target_seqs|3",
];

/// Formats. The XML report is made from trimmed hit lists, from which PSSMs are then made, too.
const FORMATS: &[&str] = &["0", "5", "6", "7"];

const LETTERS: &[u8; 20] = b"ARNDCQEGHILKMFPSTWYV";

/// A generator of proteins that descend from each other.
struct Proteins(Rng);

impl Proteins {
    fn letter(&mut self) -> u8 {
        LETTERS[self.0.usize(..20)]
    }

    fn sequence(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.letter()).collect()
    }

    /// Returns a copy with this percentage of letters replaced.
    fn mutant(&mut self, parent: &[u8], percent: u64) -> Vec<u8> {
        let mut copy = parent.to_vec();
        for letter in &mut copy {
            if self.0.u64(..100) < percent {
                *letter = self.letter();
            }
        }
        copy
    }
}

/// Makes a directory with `family.fa`, `few.fa` (queries of that family with ranges of low
/// complexity and of lower case), and the database `family`.
pub fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let mut proteins = Proteins(Rng::with_seed(11));
    let mut parent = proteins.sequence(170);
    parent[60..85].copy_from_slice(b"SASSASSSAASSASSPASSSASSAA");
    let subjects: String = (0..40)
        .map(|number| {
            let percent = 5 + 2 * number;
            let letters = proteins.mutant(&parent, percent);
            format!(">s{number} of {percent}\n{}\n", String::from_utf8_lossy(&letters))
        })
        .collect();
    let mut queries = String::new();
    for number in 0..2 {
        let mut letters = proteins.mutant(&parent, 20);
        letters[100 + 20 * number..112 + 20 * number].make_ascii_lowercase();
        queries += &format!(">q{number} one\n{}\n", String::from_utf8_lossy(&letters));
    }
    let write = |name: &str, text: &str| fs::write(fixture.path().join(name), text);
    write("few.fa", &queries).and_then(|()| write("family.fa", &subjects)).expect("files");
    if let Some(oracle) = fixture.oracle {
        let line = "-in|family.fa|-dbtype|prot|-out|family";
        let mut command = oracle.command("makeblastdb");
        let made = command.args(Fixture::words(line)).current_dir(fixture.path()).output();
        let made = made.expect("makeblastdb");
        assert!(made.status.success(), "{}", complaint(&made));
    }
    fixture
}

/// Runs a command line. Returns the output, and the files in `kept` with their names.
fn left(fixture: &Fixture, program: &Path, line: &str) -> (Output, Vec<(OsString, Vec<u8>)>) {
    let kept = fixture.path().join("kept");
    fs::create_dir(&kept).expect("a directory");
    let output = fixture.run(program, &Fixture::words(line), &[]);
    let mut files: Vec<_> = fs::read_dir(&kept)
        .expect("a directory")
        .map(|entry| {
            let entry = entry.expect("a file");
            (entry.file_name(), fs::read(entry.path()).expect("a file"))
        })
        .collect();
    files.sort_unstable();
    fs::remove_dir_all(&kept).expect("a directory");
    (output, files)
}

/// Runs command lines by both programs, and checks that messages, reports and files are equal.
pub fn compare(fixture: &Fixture, lines: impl IntoIterator<Item = String>) {
    let Some(oracle) = fixture.oracle else { return };
    let ours = fixture.called("psiblast");
    let theirs = oracle.program("psiblast");
    for line in lines {
        let (expected, files) = left(fixture, &theirs, &line);
        let (actual, own) = left(fixture, &ours, &line);
        assert_eq!(complaint(&actual), complaint(&expected), "{line}");
        assert!(actual.stdout == expected.stdout, "{line}: reports differ");
        let names = |files: &[(OsString, Vec<u8>)]| -> Vec<OsString> {
            files.iter().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(names(&own), names(&files), "{line}");
        for ((name, own), (_, file)) in own.iter().zip(&files) {
            assert!(own == file, "{line}: {} differs", name.display());
        }
    }
}

#[test]
fn lines_that_end_before_a_search_end_as_in_the_oracle() {
    compare(&Fixture::new(), BEFORE.iter().map(|&line| line.to_owned()));
}

#[test]
fn what_is_not_there_is_refused_by_name() {
    let fixture = Fixture::new();
    if fixture.oracle.is_none() {
        return;
    }
    let ours = fixture.called("psiblast");
    for (option, words) in REFUSED {
        let line = format!("-query|one.fa|-db|db|{option}");
        let output = fixture.run(&ours, &Fixture::words(&line), &[]);
        let said = complaint(&output);
        assert!(said.starts_with("exit code Some(1)") && said.contains(words), "{line}: {said}");
        assert!(output.stdout.is_empty(), "{line}");
        for made in ["r", "c", "t", "m", "p"] {
            assert!(!fixture.path().join(made).exists(), "{line} made {made}");
        }
    }
}

/// BLAST+ searches one query at a time, and does not read `BATCH_SIZE`.
#[test]
fn batch_size_has_no_effect() {
    let fixture = fixture();
    let Some(oracle) = fixture.oracle else { return };
    let line = Fixture::words("-query|few.fa|-db|family|-num_iterations|2|-outfmt|6");
    for size in ["abc", "0", "-1", "100000"] {
        let run = |program: &Path| fixture.run(program, &line, &[("BATCH_SIZE", size)]);
        let (expected, actual) =
            (run(&oracle.program("psiblast")), run(&fixture.called("psiblast")));
        assert_eq!(complaint(&actual), complaint(&expected), "{size}");
        assert!(!actual.stdout.is_empty() && actual.stdout == expected.stdout, "{size}");
    }
}

#[test]
fn rounds_mask_as_in_the_oracle() {
    let lines = MASKS.iter().flat_map(|masks| {
        ["0", "6"].map(|format| {
            format!(
                "-query|few.fa|-db|family|{masks}|-outfmt|{format}|-out_pssm|kept/p|-out_ascii_pssm|kept/a|-save_each_pssm"
            )
        })
    });
    compare(&fixture(), sample(3, lines));
}

#[test]
fn matrices_are_of_the_lists_that_the_oracle_keeps() {
    let lines = LISTS.iter().flat_map(|lists| {
        FORMATS.iter().map(move |format| {
            format!(
                "-query|few.fa|-db|family|{lists}|-outfmt|{format}|-out_pssm|kept/p|-save_each_pssm"
            )
        })
    });
    compare(&fixture(), sample(3, lines));
}

/// E-values that are shown as 0 are 0 for the PSSM, too.
#[test]
fn the_best_alignments_go_into_the_matrix_whatever_the_threshold() {
    let fixture = fixture();
    let mut proteins = Proteins(Rng::with_seed(3));
    let parent = proteins.sequence(500);
    let mutants: Vec<Vec<u8>> =
        [0, 4, 15, 40].map(|percent| proteins.mutant(&parent, percent)).to_vec();
    let text = |letters: &[Vec<u8>]| -> String {
        let texts = letters.iter().zip(0..);
        texts.map(|(it, number)| format!(">p{number}\n{}\n", String::from_utf8_lossy(it))).collect()
    };
    let write = |name: &str, text: String| fs::write(fixture.path().join(name), text);
    write("long.fa", text(&mutants))
        .and_then(|()| write("best.fa", text(&mutants[..1])))
        .expect("files");
    let lines = ["1e-170", "1e-181", "1e-250"].map(|threshold| {
        format!("-query|best.fa|-subject|long.fa|-num_iterations|2|-inclusion_ethresh|{threshold}|-outfmt|0|-out_pssm|kept/p")
    });
    compare(&fixture, lines);
}

#[test]
fn queries_that_cannot_be_searched_end_the_job_as_in_the_oracle() {
    let fixture = fixture();
    let few = fs::read_to_string(fixture.path().join("few.fa")).expect("queries");
    let write = |name: &str, text: String| fs::write(fixture.path().join(name), text);
    write("unknown.fa", format!("{few}>x\n{}\n{few}", "X".repeat(30))).expect("a file");
    write("empty.fa", format!("{few}>nothing\n{few}")).expect("a file");
    write("odd.fa", format!("{few}>odd\nMK-VL\n{few}")).expect("a file");
    let lines = ["unknown", "empty", "odd"].iter().flat_map(|name| {
        ["0", "6", "7"].map(|format| {
            format!("-query|{name}.fa|-db|family|-num_iterations|2|-outfmt|{format}|-out_pssm|kept/p|-save_each_pssm")
        })
    });
    compare(&fixture, lines);
}

#[test]
fn subjects_of_a_file_have_the_names_that_the_oracle_gives_them() {
    let lines = FORMATS.iter().map(|format| {
        format!(
            "-query|few.fa|-subject|family.fa|-num_iterations|2|-outfmt|{format}|-out_pssm|kept/p"
        )
    });
    compare(&fixture(), lines);
}

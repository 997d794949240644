//! `expand` and `-resume` refuse another file of `-subject`, whichever letter, mask or title
//! differs.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Exit code for other subjects than those that were searched.
const DATABASE: i32 = 2;
/// Exit code of a refusal, and of a search whose last query cannot be read.
const INPUT: i32 = 1;
/// 203 bases: at four bases a byte, the last byte has three.
const LONG: &str = "ACGATTGCCATGACGTTAGCATCGGATCTTACGGCATTCGAGGCTAACTGATCGGTACCATTGCAAGGTCTTGACCATGCGTAACGTCAGTTGCAACCGG\
    TACTGGATCCATNNNGCATTACGGATCAGTCCAAGTCTTGCAGCAATGCCTGATTCGAACGTGGATACCTTAGGACGTCATGCCGATATTGCGACTAGTACGT";

fn run(dir: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fleetblast")).current_dir(dir).args(words).output().unwrap()
}

fn stderr_text(run: &Output) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned()
}

/// A directory with the metadata of a search of `s.fa`, from which reports are made.
struct Site {
    dir: TempDir,
    program: &'static str,
    options: &'static [&'static str],
    subjects: Vec<String>,
}

impl Site {
    fn new(
        program: &'static str,
        options: &'static [&'static str],
        query: &str,
        subjects: Vec<String>,
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("q.fa"), format!(">q\n{query}\n")).unwrap();
        fs::write(dir.path().join("s.fa"), fasta(&subjects)).unwrap();
        let site = Site { dir, program, options, subjects };
        let words = [&site.words()[..], &["-metadata_out", "m"]].concat();
        let run = run(site.dir.path(), &words);
        assert!(run.status.success(), "{}", stderr_text(&run));
        site.is_taken(&site.subjects);
        site
    }

    fn words(&self) -> Vec<&'static str> {
        [&[self.program, "-query", "q.fa", "-subject", "s.fa"], self.options].concat()
    }

    fn expand(&self, subjects: &[String]) -> Output {
        fs::write(self.dir.path().join("other.fa"), fasta(subjects)).unwrap();
        run(self.dir.path(), &["expand", "m", "-subject", "other.fa"])
    }

    fn is_taken(&self, subjects: &[String]) {
        let (expanded, direct) = (self.expand(subjects), run(self.dir.path(), &self.words()));
        assert!(expanded.status.success(), "{}", stderr_text(&expanded));
        assert!(expanded.stdout == direct.stdout);
    }

    fn is_refused(&self, what: &str, number: usize, change: impl FnOnce(&mut String)) {
        let mut subjects = self.subjects.clone();
        change(&mut subjects[number]);
        assert_ne!(subjects, self.subjects, "{what}");
        let expanded = self.expand(&subjects);
        let said = stderr_text(&expanded);
        assert_eq!(expanded.status.code(), Some(DATABASE), "{what}: {said}");
        assert!(said.contains("is not the database that was searched"), "{what}: {said}");
        assert!(expanded.stdout.is_empty(), "{what}");
    }

    /// Checks that a change of any letter of any sequence is refused.
    fn refuses_others(&self, letters: &str) {
        for number in 0..self.subjects.len() {
            for at in 0..self.subjects[number].len() {
                let what = format!("letter {at} of sequence {number}");
                self.is_refused(&what, number, |sequence| {
                    let old = sequence[at..=at].chars().next().unwrap();
                    let next = letters.find(old).map_or(0, |found| (found + 1) % letters.len());
                    sequence.replace_range(at..=at, &letters[next..=next]);
                });
            }
        }
    }
}

fn fasta(subjects: &[String]) -> String {
    subjects.iter().enumerate().map(|(i, letters)| format!(">s{i} a title\n{letters}\n")).collect()
}

/// Returns sequences of one to nine letters.
fn short(letters: &str) -> Vec<String> {
    (1..10).map(|length| letters[length..2 * length].to_owned()).collect()
}

#[test]
fn each_base_counts() {
    let site = Site::new("blastn", &["-task", "blastn", "-outfmt", "6"], LONG, short(LONG));
    site.refuses_others("ACGT");
    site.refuses_others("NRACGT");
    site.refuses_others("ACGTRYN");
    let last = || vec![LONG[..40].to_owned(), LONG.to_owned()];
    let site = Site::new("blastn", &["-task", "blastn", "-outfmt", "6"], LONG, last());
    for at in 195..LONG.len() {
        site.is_refused("one of the last bases", 1, |bases| {
            let other = if &bases[at..=at] == "A" { "C" } else { "A" };
            bases.replace_range(at..=at, other);
        });
    }
    site.is_refused("a base more", 1, |bases| bases.push('A'));
    site.is_refused("a base less", 1, |bases| bases.truncate(LONG.len() - 1));
    site.is_refused("another ambiguity", 1, |bases| *bases = bases.replace("NNN", "NNY"));
    // Sequences in lower case are others only if lower case masks them.
    site.is_taken(&[last()[0].clone(), last()[1].to_lowercase()]);
}

#[test]
fn each_residue_counts() {
    let letters = "MKVLAWGHTREDSNQYFPIC";
    let site = Site::new("blastp", &["-outfmt", "6"], letters, short(letters));
    site.refuses_others("ARNDCQEGHILKMFPSTWYV");
}

#[test]
fn masks_titles_and_what_is_not_searched_count() {
    let options = &["-task", "blastn", "-lcase_masking", "-subject_loc", "20-100"];
    let masked = LONG[..60].to_owned() + &LONG[60..70].to_lowercase() + &LONG[70..];
    let site = Site::new("blastn", options, LONG, vec![masked]);
    for at in [59, 60, 69, 70, 201, 202] {
        let change = |base: &str| match base.to_uppercase() == base {
            true => base.to_lowercase(),
            false => base.to_uppercase(),
        };
        site.is_refused("a mask", 0, |bases| {
            let other = change(&bases[at..=at]);
            bases.replace_range(at..=at, &other);
        });
    }
    for at in [0, 1, 201, 202] {
        site.is_refused("a base that is not searched", 0, |bases| {
            let other = if &bases[at..=at] == "A" { "C" } else { "A" };
            bases.replace_range(at..=at, other);
        });
    }
    let other = fasta(&site.subjects).replace("a title", "a tithe");
    fs::write(site.dir.path().join("other.fa"), other).unwrap();
    let expanded = run(site.dir.path(), &["expand", "m", "-subject", "other.fa"]);
    assert_eq!(expanded.status.code(), Some(DATABASE), "{}", stderr_text(&expanded));
}

#[test]
fn a_search_goes_on_with_its_own_subjects_only() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let queries: String = (0..300).map(|i| format!(">q{i}\n{}\n", &LONG[i % 90..])).collect();
    fs::write(dir.join("q.fa"), queries + ">bad\n%%%%%%%%%%%%%%\n").unwrap();
    let own = fasta(&[LONG.to_owned()]);
    fs::write(dir.join("s.fa"), &own).unwrap();
    let words = ["blastn", "-query", "q.fa", "-subject", "s.fa", "-outfmt", "6", "-ranks", "2"];
    let words = [&words[..], &["-checkpoint", "kept", "-resume", "-num_threads", "1"]].concat();
    let first = run(dir, &words);
    assert_eq!(first.status.code(), Some(INPUT), "{}", stderr_text(&first));
    assert!(!first.stdout.is_empty());
    let mut others: Vec<String> =
        (0..4).map(|back| other_base(&own, own.len() - 2 - back)).collect();
    // Nothing that is searched or reported differs, but the file does.
    others.push(own.replace('A', "\nA"));
    for other in others {
        fs::write(dir.join("s.fa"), &other).unwrap();
        let again = run(dir, &words);
        assert_eq!(again.status.code(), Some(INPUT), "{}", stderr_text(&again));
        assert!(
            stderr_text(&again).contains("the results of another job"),
            "{}",
            stderr_text(&again)
        );
        assert!(stderr_text(&again).contains("-subject"), "{}", stderr_text(&again));
        assert!(again.stdout.is_empty());
    }
    fs::write(dir.join("s.fa"), &own).unwrap();
    let again = run(dir, &words);
    assert!(stderr_text(&again).contains("finished already"), "{}", stderr_text(&again));
    assert!(again.stdout == first.stdout);
}

fn other_base(text: &str, at: usize) -> String {
    let other = if &text[at..=at] == "A" { "C" } else { "A" };
    text[..at].to_owned() + other + &text[at + 1..]
}

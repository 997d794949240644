//! Chooses random options: those of blastp, and those of translated subjects.

use super::{BLASTP, TBLASTN};
use crate::fasta::Record;
use crate::fuzz::options::Choice;
use crate::program::Trial;
use fastrand::Rng;

/// Some genetic codes; the standard one is listed more often.
const CODES: &[&str] =
    &["1", "1", "2", "3", "4", "5", "6", "9", "11", "14", "16", "22", "31", "33"];
/// Longest introns; 122 is BLAST+'s default, and from 1 to 4 there is no linking.
const INTRONS: &[&str] = &["0", "1", "4", "5", "30", "121", "122", "123", "200", "1000", "100000"];

/// Chooses the options of a trial: an output format, and a few others.
pub fn choose(rng: &mut Rng, trial: &Trial) -> Vec<Vec<String>> {
    let mut groups = (BLASTP.options)(rng, &of_frames(trial));
    groups.retain(|group| group[0] != "-subject_loc" && group != &["-task", "blastp-short"]);
    for word in groups.iter_mut().flatten() {
        match word.as_str() {
            "blastp" | "blastp-fast" => *word = word.replace("blastp", "tblastn"),
            columns if columns == BLASTP.columns => *word = TBLASTN.columns.to_owned(),
            _ => {}
        }
    }
    for group in groups.iter_mut().filter(|group| group[0].ends_with("_mask")) {
        // The masks of dustmasker.
        group[1] = "11".to_owned();
    }
    groups.retain(|group| !["-use_sw_tback", "-ungapped"].contains(&group[0].as_str()));
    let format = groups.pop();
    let mut choice = Choice::new(rng);
    choice.groups = groups;
    choice.maybe(0.15, "-db_gencode", CODES);
    choice.maybe(0.2, "-max_intron_length", INTRONS);
    choice.maybe(0.15, "-sum_stats", &["true", "false", "false"]);
    if trial.target == crate::program::Target::Subject && choice.wants(0.1) {
        let range = choice.range(&trial.subjects);
        choice.add(&["-subject_loc", &range]);
    }
    choice.groups.extend(format);
    choice.groups
}

/// Returns the trial with subjects as long as their frames, for options that depend on lengths.
fn of_frames(trial: &Trial) -> Trial {
    let frame = |subject: &Record| {
        let letters: Vec<u8> = subject.seq.iter().step_by(3).copied().collect();
        Record::new(subject.header.clone(), letters)
    };
    Trial {
        program: &BLASTP,
        subjects: trial.subjects.iter().map(frame).collect(),
        ..trial.clone()
    }
}

//! Chooses random options of tblastn: those of blastp, and those of translated subjects.

use super::{BLASTP, TBLASTN, genes};
use crate::fuzz::options::OptionBuilder;
use crate::program::{SubjectForm, Trial};
use fastrand::Rng;

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
        // 11 is the number of dustmasker's masks.
        group[1] = "11".to_owned();
    }
    // BLAST+ often takes minutes for local alignments (docs/rules/tblastn.md).
    groups.retain(|group| group[0] != "-use_sw_tback");
    let format = groups.pop();
    let mut choice = OptionBuilder::new(rng);
    choice.groups = groups;
    choice.maybe(0.15, "-db_gencode", genes::CODES);
    choice.maybe(0.2, "-max_intron_length", genes::INTRONS);
    choice.maybe(0.15, "-sum_stats", &["true", "false", "false"]);
    if trial.subject_form == SubjectForm::Subject && choice.wants(0.1) {
        let range = choice.range(&trial.subjects);
        choice.add(&["-subject_loc", &range]);
    }
    choice.groups.extend(format);
    choice.groups
}

/// Returns the trial with subjects as long as their frames. Options that depend on lengths are
/// drawn for these.
fn of_frames(trial: &Trial) -> Trial {
    Trial { program: &BLASTP, subjects: genes::of_frame_length(&trial.subjects), ..trial.clone() }
}

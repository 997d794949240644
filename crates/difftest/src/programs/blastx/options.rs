//! Chooses random options of blastx: those of blastp, and those of translated queries.

use super::{BLASTP, BLASTX, genes};
use crate::fuzz::options::OptionBuilder;
use crate::program::Trial;
use fastrand::Rng;

/// Chooses the options of a trial: an output format, and a few others.
pub fn choose(rng: &mut Rng, trial: &Trial) -> Vec<Vec<String>> {
    let mut groups = (BLASTP.options)(rng, &of_frames(trial));
    if groups.iter().any(|group| group[0] == "-matrix" && group[1] == "IDENTITY") {
        // The gap costs of IDENTITY suit no other matrix.
        groups.retain(|group| !["-matrix", "-gapopen"].contains(&group[0].as_str()));
    }
    groups.retain(|group| group[0] != "-query_loc" && group != &["-task", "blastp-short"]);
    for word in groups.iter_mut().flatten() {
        match word.as_str() {
            "blastp" | "blastp-fast" => *word = word.replace("blastp", "blastx"),
            columns if columns == BLASTP.columns => *word = BLASTX.columns.to_owned(),
            _ => {}
        }
    }
    groups.retain(|group| group[0] != "-use_sw_tback");
    let format = groups.pop();
    let mut choice = OptionBuilder::new(rng);
    choice.groups = groups;
    choice.maybe(0.15, "-strand", &["plus", "minus", "both"]);
    choice.maybe(0.15, "-query_gencode", genes::CODES);
    choice.maybe(0.2, "-max_intron_length", genes::INTRONS);
    choice.maybe(0.15, "-sum_stats", &["true", "false", "false"]);
    if choice.wants(0.06) {
        let range = choice.range(&trial.queries);
        choice.add(&["-query_loc", &range]);
    }
    choice.groups.extend(format);
    choice.groups
}

/// Returns the trial with queries as long as their frames. Options that depend on lengths are drawn
/// for these.
fn of_frames(trial: &Trial) -> Trial {
    Trial { program: &BLASTP, queries: genes::of_frame_length(&trial.queries), ..trial.clone() }
}

//! Chooses random options of tblastx: those of tblastn that it has, and those of translated
//! queries.

use super::{TBLASTN, genes};
use crate::fuzz::options::OptionBuilder;
use crate::program::Trial;
use fastrand::Rng;

/// Options of tblastn that tblastx refuses or does not have.
const OTHERS: &[&str] = &[
    "-task",
    "-comp_based_stats",
    "-gapopen",
    "-xdrop_gap",
    "-xdrop_gap_final",
    "-max_intron_length",
    "-query_loc",
    "-mt_mode",
];

/// Chooses the options of a trial: an output format, and a few others.
pub fn choose(rng: &mut Rng, trial: &Trial) -> Vec<Vec<String>> {
    let proteins = Trial {
        program: &TBLASTN,
        queries: genes::of_frame_length(&trial.queries),
        ..trial.clone()
    };
    let mut groups = (TBLASTN.options)(rng, &proteins);
    groups.retain(|group| {
        let is_long = group[0] == "-word_size" && ["6", "7"].contains(&group[1].as_str());
        !is_long && !OTHERS.contains(&group[0].as_str())
    });
    let format = groups.pop();
    let mut choice = OptionBuilder::new(rng);
    choice.groups = groups;
    choice.maybe(0.15, "-strand", &["plus", "minus", "both"]);
    choice.maybe(0.15, "-query_gencode", genes::CODES);
    if choice.wants(0.06) {
        let range = choice.range(&trial.queries);
        choice.add(&["-query_loc", &range]);
    }
    choice.groups.extend(format);
    choice.groups
}

//! Random options, weighted towards those that change which hits are found and how.

use super::trial::{Target, Trial};
use crate::cases::COLUMNS;
use crate::rng::Rng;

/// Matrices with some of their allowed gap costs; the first pair is the default.
const MATRICES: &[(&str, &[(&str, &str)])] = &[
    ("BLOSUM62", &[("11", "1"), ("9", "2"), ("8", "2"), ("13", "1"), ("6", "2")]),
    ("BLOSUM45", &[("14", "2"), ("13", "3"), ("10", "3"), ("16", "1")]),
    ("BLOSUM50", &[("13", "2"), ("9", "3"), ("15", "1")]),
    ("BLOSUM80", &[("10", "1"), ("8", "2"), ("6", "2"), ("11", "1")]),
    ("BLOSUM90", &[("10", "1"), ("7", "2"), ("9", "1")]),
    ("PAM30", &[("9", "1"), ("7", "2"), ("5", "2"), ("10", "1")]),
    ("PAM70", &[("10", "1"), ("8", "2"), ("6", "2"), ("11", "1")]),
    ("PAM250", &[("14", "2"), ("13", "3"), ("17", "1")]),
];

/// Options for a trial: an output format, and a few others.
pub fn choose(rng: &mut Rng, trial: &Trial) -> Vec<Vec<String>> {
    let mut groups = Vec::new();
    let ungapped = rng.chance(0.06);
    task(rng, &mut groups);
    if ungapped {
        groups.push(group(&["-ungapped", "-comp_based_stats", "F"]));
    } else {
        alignment(rng, &mut groups);
    }
    if rng.chance(0.2) {
        scoring(rng, &mut groups);
    }
    words(rng, &mut groups);
    filters(rng, &mut groups);
    limits(rng, &mut groups);
    statistics(rng, &mut groups, trial);
    if rng.chance(0.15) && trial.target != Target::Subject {
        groups.push(group(&["-num_threads", "2"]));
    }
    groups.push(format(rng));
    groups
}

fn group(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| w.to_string()).collect()
}

fn word<'a>(rng: &mut Rng, words: &[&'a str]) -> &'a str {
    words[rng.below(words.len())]
}

/// With probability `p`, adds `name` with one of `values`.
fn maybe(rng: &mut Rng, groups: &mut Vec<Vec<String>>, p: f64, name: &str, values: &[&str]) {
    if rng.chance(p) {
        groups.push(group(&[name, word(rng, values)]));
    }
}

fn task(rng: &mut Rng, groups: &mut Vec<Vec<String>>) {
    maybe(rng, groups, 0.25, "-task", &["blastp-fast", "blastp-fast", "blastp-short", "blastp"]);
}

fn alignment(rng: &mut Rng, groups: &mut Vec<Vec<String>>) {
    maybe(rng, groups, 0.4, "-comp_based_stats", &["0", "0", "1", "3", "2"]);
    if rng.chance(0.12) {
        groups.push(group(&["-use_sw_tback"]));
    }
    maybe(rng, groups, 0.08, "-xdrop_gap", &["0", "3", "8", "30", "60"]);
    maybe(rng, groups, 0.08, "-xdrop_gap_final", &["0", "10", "15", "40", "90"]);
}

fn scoring(rng: &mut Rng, groups: &mut Vec<Vec<String>>) {
    let (matrix, costs) = rng.pick(MATRICES);
    groups.push(group(&["-matrix", matrix]));
    if rng.chance(0.6) {
        let (open, extend) = rng.pick(costs);
        groups.push(group(&["-gapopen", open, "-gapextend", extend]));
    }
}

fn words(rng: &mut Rng, groups: &mut Vec<Vec<String>>) {
    // The compressed table with a low threshold has too many words to be quick.
    if rng.chance(0.06) {
        groups.push(group(&["-word_size", word(rng, &["6", "7"]), "-threshold", "21"]));
    } else {
        maybe(rng, groups, 0.08, "-word_size", &["2", "3", "4", "5"]);
        maybe(rng, groups, 0.08, "-threshold", &["9", "10", "12", "13", "16", "20"]);
    }
    maybe(rng, groups, 0.12, "-window_size", &["0", "1", "5", "15", "20", "60", "100"]);
    maybe(rng, groups, 0.06, "-xdrop_ungap", &["0", "2", "5", "12"]);
}

fn filters(rng: &mut Rng, groups: &mut Vec<Vec<String>>) {
    maybe(rng, groups, 0.2, "-seg", &["yes", "yes", "10 1.8 2.1", "12 2.2 2.5", "no"]);
    maybe(rng, groups, 0.08, "-soft_masking", &["true", "false"]);
    if rng.chance(0.08) {
        groups.push(group(&["-lcase_masking"]));
    }
}

fn limits(rng: &mut Rng, groups: &mut Vec<Vec<String>>) {
    maybe(rng, groups, 0.3, "-max_target_seqs", &["1", "2", "5", "10", "50", "600", "5000"]);
    maybe(rng, groups, 0.1, "-max_hsps", &["1", "2", "4"]);
    maybe(rng, groups, 0.06, "-qcov_hsp_perc", &["10", "50", "80", "100"]);
    if rng.chance(0.05) {
        groups.push(group(&["-subject_besthit"]));
    }
    match rng.below(20) {
        0 => groups.push(group(&["-culling_limit", word(rng, &["1", "2", "5"])])),
        1 => groups.push(group(&[
            "-best_hit_overhang",
            word(rng, &["0.1", "0.25", "0.4"]),
            "-best_hit_score_edge",
            word(rng, &["0.05", "0.1", "0.3"]),
        ])),
        _ => {}
    }
}

fn statistics(rng: &mut Rng, groups: &mut Vec<Vec<String>>, trial: &Trial) {
    let values = ["1e-50", "1e-10", "1e-3", "0.1", "1", "11", "50", "1000"];
    maybe(rng, groups, 0.35, "-evalue", &values);
    match rng.below(20) {
        0 => groups.push(group(&["-dbsize", word(rng, &["5000", "100000000", "100000000000"])])),
        1 => groups.push(group(&["-searchsp", word(rng, &["1000", "1000000", "10000000000"])])),
        _ => {}
    }
    if rng.chance(0.06) {
        let shortest = trial.queries.iter().map(|q| q.seq.len()).min().unwrap_or(1);
        let (a, b) = (rng.between(1, shortest), rng.between(1, shortest));
        groups.push(group(&["-query_loc", &format!("{}-{}", a.min(b), a.max(b))]));
    }
}

fn format(rng: &mut Rng) -> Vec<String> {
    match rng.below(20) {
        0..=1 => group(&["-outfmt", "0"]),
        2 => group(&["-outfmt", "5"]),
        3 => group(&["-outfmt", "7"]),
        4 => group(&["-outfmt", "10"]),
        _ => group(&["-outfmt", COLUMNS]),
    }
}

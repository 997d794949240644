//! Chooses random options of blastn, most often those that affect which hits are found.

use super::BLASTN;
use crate::fuzz::options::{OptionBuilder, TAXA};
use crate::program::{LISTED, SubjectForm, Trial};
use crate::rng::Draw;
use fastrand::Rng;

/// Reward, penalty, and all gap costs (open/extend) that have statistics for them.
const SCORES: &[(&str, &str, &str)] = &[
    ("1", "-2", "0/0 2/2 1/2 0/2 3/1 2/1 1/1"),
    // Scores beyond 16 bits. Their low 16 bits equal the scores of other rows, or 0.
    ("65537", "-65538", "0/0 2/2 1/2"),
    ("-65534", "-3", "0/0 4/4 2/4"),
    ("65536", "-2", "0/0 2/2"),
    ("2", "-3", "0/0 4/4 2/4 0/4 3/3 6/2 5/2 4/2 2/2"),
    ("1", "-3", "0/0 2/2 1/2 0/2 2/1 1/1"),
    ("1", "-4", "0/0 1/2 0/2 2/1 1/1"),
    ("1", "-1", "3/2 2/2 1/2 0/2 4/1 3/1 2/1"),
    ("3", "-4", "6/3 5/3 4/3 6/2 5/2 4/2"),
    ("4", "-5", "6/5 5/5 4/5 3/5 12/8"),
    ("5", "-4", "25/10 10/6 8/6"),
    ("2", "-5", "0/0 2/4 0/4 4/2 2/2"),
    ("2", "-7", "0/0 2/4 0/4 4/2 2/2"),
    ("3", "-2", "5/5"),
    ("4", "-6", "8/8 12/4"),
    ("10", "-15", "25/10"),
];

/// Chooses the options of a trial: an output format, and a few others.
pub fn choose(rng: &mut Rng, trial: &Trial) -> Vec<Vec<String>> {
    let mut choice = OptionBuilder::new(rng);
    words(&mut choice);
    scoring(&mut choice);
    if choice.wants(0.06) {
        choice.add(&["-ungapped"]);
    } else {
        choice.maybe(0.08, "-xdrop_gap", &["0", "5", "12", "30", "90"]);
        choice.maybe(0.08, "-xdrop_gap_final", &["0", "10", "15", "40", "200"]);
        choice.maybe(0.05, "-min_raw_gapped_score", &["0", "15", "30", "60", "200"]);
    }
    choice.maybe(0.06, "-xdrop_ungap", &["0", "0.5", "2", "8", "20", "60"]);
    filters(&mut choice, trial);
    limits(&mut choice);
    statistics(&mut choice, trial);
    restriction(&mut choice, trial);
    threads(&mut choice, trial);
    format(&mut choice);
    choice.groups
}

/// Chooses task, word size, templates and windows, which must fit each other.
fn words(choice: &mut OptionBuilder) {
    choice.maybe(0.15, "-strand", &["plus", "minus", "both"]);
    match choice.rng.usize(..20) {
        0..=5 => {
            choice.maybe(0.2, "-task", &["megablast"]);
            choice.maybe(
                0.3,
                "-word_size",
                &["8", "11", "12", "13", "16", "16", "20", "24", "29", "40", "64"],
            );
        }
        6..=12 => {
            choice.add(&["-task", "blastn"]);
            choice.maybe(
                0.3,
                "-word_size",
                &["4", "5", "6", "7", "8", "9", "10", "12", "14", "18"],
            );
        }
        13..=15 => {
            choice.add(&["-task", "blastn-short"]);
            choice.maybe(0.2, "-word_size", &["4", "5", "8", "11"]);
        }
        _ => {
            choice.add(&["-task", "dc-megablast"]);
            choice.maybe(0.2, "-word_size", &["11", "12"]);
            if choice.wants(0.4) {
                let kind = *choice.rng.pick(&["coding", "optimal", "coding_and_optimal"]);
                let length = *choice.rng.pick(&["16", "18", "21"]);
                choice.add(&["-template_type", kind, "-template_length", length]);
            }
        }
    }
    choice.maybe(0.12, "-window_size", &["0", "0", "10", "30", "40", "60", "150"]);
    choice.maybe(0.05, "-off_diagonal_range", &["0", "1", "3", "5"]);
}

fn scoring(choice: &mut OptionBuilder) {
    if choice.wants(0.2) {
        let &(reward, penalty, costs) = choice.rng.pick(SCORES);
        choice.add(&["-reward", reward, "-penalty", penalty]);
        let costs: Vec<&str> = costs.split(' ').collect();
        let (open, extend) = choice.rng.pick(&costs).split_once('/').unwrap_or(("0", "0"));
        choice.add(&["-gapopen", open, "-gapextend", extend]);
    }
    choice.flag(0.08, "-no_greedy");
}

fn filters(choice: &mut OptionBuilder, trial: &Trial) {
    if trial.subject_form != SubjectForm::Subject && choice.wants(0.04) {
        choice.add(&["-filtering_db", "db"]);
    }
    choice.maybe(0.2, "-dust", &["yes", "no", "no", "20 64 1", "10 40 3", "40 20 5"]);
    choice.maybe(0.08, "-soft_masking", &["true", "false"]);
    choice.flag(0.08, "-lcase_masking");
}

fn limits(choice: &mut OptionBuilder) {
    choice.maybe(0.25, "-max_target_seqs", &["1", "2", "5", "10", "50", "600", "5000"]);
    choice.maybe(0.1, "-max_hsps", &["1", "2", "4"]);
    choice.maybe(0.06, "-qcov_hsp_perc", &["10", "50", "80", "99.5", "100"]);
    choice.maybe(0.1, "-perc_identity", &["0", "70", "85.5", "95", "99.9", "100"]);
    choice.flag(0.05, "-subject_besthit");
    match choice.rng.usize(..16) {
        0 => choice.maybe(1.0, "-culling_limit", &["1", "2", "3", "5", "20", "2147483647"]),
        1 => {
            let overhang = *choice.rng.pick(&["0.1", "0.25", "0.4"]);
            let edge = *choice.rng.pick(&["0.05", "0.1", "0.3"]);
            choice.add(&["-best_hit_overhang", overhang, "-best_hit_score_edge", edge]);
        }
        _ => {}
    }
}

fn statistics(choice: &mut OptionBuilder, trial: &Trial) {
    match choice.rng.usize(..20) {
        0..=5 => choice.maybe(
            1.0,
            "-evalue",
            &["1e-50", "1e-10", "1e-3", "0.1", "1", "11", "50", "1000"],
        ),
        6 => choice.maybe(1.0, "-evalue", &["1e4", "1e6", "1e12"]),
        7 => choice.maybe(1.0, "-evalue", &["1e-300", "1e-180", "1e-100", "10.0"]),
        _ => {}
    }
    match choice.rng.usize(..20) {
        0 => choice.maybe(1.0, "-dbsize", &["1", "5000", "100000000", "100000000000"]),
        1 => choice.maybe(1.0, "-searchsp", &["1", "1000", "1000000", "10000000000"]),
        _ => {}
    }
    choice.maybe(0.08, "-sum_stats", &["true", "true", "true", "false"]);
    if choice.wants(0.06) {
        let range = choice.range(&trial.queries);
        choice.add(&["-query_loc", &range]);
    }
    if trial.subject_form == SubjectForm::Subject && choice.wants(0.1) {
        let range = choice.range(&trial.subjects);
        choice.add(&["-subject_loc", &range]);
    }
}

/// Chooses a restriction to some of the subjects, or to parts of their bases.
fn restriction(choice: &mut OptionBuilder, trial: &Trial) {
    if trial.subject_form == SubjectForm::Masked && choice.wants(0.6) {
        choice.add(&["-db_soft_mask", "11"]);
    }
    let is_parsed = matches!(
        trial.subject_form,
        SubjectForm::Parsed | SubjectForm::Masked | SubjectForm::Aliased
    );
    if is_parsed && choice.wants(0.3) {
        match choice.rng.usize(..8) {
            0..=3 => choice.add(&["-seqidlist", LISTED]),
            4..=6 => choice.add(&["-negative_seqidlist", LISTED]),
            _ => {
                let taxids = *choice.rng.pick(&["0", "9606", "562,10090", "9606,562,4932,0"]);
                let name = *choice.rng.pick(&["-taxids", "-negative_taxids"]);
                choice.add(&[name, taxids]);
            }
        }
    }
}

/// Chooses two threads, unless BLAST+'s report can then depend on the threads.
fn threads(choice: &mut OptionBuilder, trial: &Trial) {
    let unstable = ["-culling_limit", "-best_hit_overhang", "-qcov_hsp_perc", "-subject_besthit"];
    if trial.subject_form == SubjectForm::Subject || unstable.iter().any(|name| choice.has(name)) {
        return;
    }
    if choice.rng.chance(0.1) {
        choice.add(&["-num_threads", "2"]);
    }
}

fn format(choice: &mut OptionBuilder) {
    choice.flag(0.05, "-parse_deflines");
    match choice.rng.usize(..20) {
        0..=1 => {
            choice.maybe(0.1, "-line_length", &["1", "7", "59", "100"]);
            choice.maybe(0.1, "-sorthsps", &["0", "1", "2", "3", "4"]);
            if !choice.has("-max_target_seqs") {
                choice.maybe(0.1, "-num_descriptions", &["0", "1", "4", "600"]);
                choice.maybe(0.1, "-num_alignments", &["0", "1", "4", "600"]);
            }
            choice.flag(0.05, "-html");
            choice.maybe(1.0, "-outfmt", &["0", "1", "2", "3", "4"]);
        }
        2 => choice.maybe(1.0, "-outfmt", &["5", "8", "9", "11", "12", "15", "16", "18"]),
        3 => choice.add(&["-outfmt", "7"]),
        4 => {
            let format = *choice.rng.pick(&["17", "17 SQ", "17 SR", "17 SQ SR"]);
            choice.add(&["-outfmt", format]);
        }
        5 => {
            let format = choice.rng.pick(&["6", "7", "10"]).to_string();
            let columns = choice.columns(&TAXA);
            choice.add(&["-outfmt", &format!("{format} {columns}")]);
        }
        _ => choice.add(&["-outfmt", BLASTN.columns]),
    }
}

//! Chooses random options of psiblast: those of iterations and matrices, and some of blastp's.

use super::{PSIBLAST, PSSM};
use crate::fuzz::options::{OptionBuilder, TAXA, has_smith_waterman_space};
use crate::program::{LISTED, SubjectForm, Trial};
use crate::rng::Draw;
use fastrand::Rng;

/// Matrices with some of their gap costs, alternately open and extend.
const MATRICES: &[(&str, &[&str])] = &[
    ("BLOSUM62", &["11", "1", "9", "2", "13", "1", "6", "2"]),
    ("BLOSUM45", &["14", "2", "10", "3", "19", "1"]),
    ("BLOSUM50", &["13", "2", "9", "3", "16", "1"]),
    ("BLOSUM80", &["10", "1", "6", "2", "25", "2"]),
    ("BLOSUM90", &["10", "1", "9", "2", "6", "2"]),
    ("PAM30", &["9", "1", "7", "2", "15", "3"]),
    ("PAM70", &["10", "1", "8", "2", "12", "3"]),
    ("PAM250", &["14", "2", "17", "1", "15", "3"]),
];

/// Files of alignments, except those for which BLAST+'s message has less detail than FleetBLAST's.
const ALIGNMENTS: &[&str] = &["msa_titled", "msa_clustal", "msa_phylip", "msa_odd", "msa_twins"];
/// Files of patterns. Those that occur often in sequences are listed twice.
const PATTERNS: &[&str] = &[
    "pattern_prosite",
    "pattern_two",
    "pattern_two",
    "pattern_variable",
    "pattern_variants",
    "pattern_fixed",
    "pattern_words",
    "pattern_others",
    "pattern_ends",
    "pattern_often",
    "pattern_often",
    "pattern_missing",
    "pattern_many",
    "pattern_last",
    "pattern_whole",
];

/// Chooses the options of a trial: an output format, and a few others.
pub fn choose(rng: &mut Rng, trial: &Trial) -> Vec<Vec<String>> {
    let mut choice = OptionBuilder::new(rng);
    choice.start();
    choice.rounds();
    choice.matrices();
    choice.searches(trial);
    choice.lists();
    choice.parts(trial);
    choice.report(trial);
    choice.groups
}

/// The choice of options of psiblast.
impl OptionBuilder<'_> {
    /// Chooses a PSSM, an alignment or a pattern with which the first search begins.
    fn start(&mut self) {
        match self.rng.usize(..10) {
            0 => self.add(&["-in_pssm", PSSM]),
            1 => {
                let file = *self.rng.pick(ALIGNMENTS);
                self.add(&["-in_msa", file]);
                self.maybe(0.3, "-msa_master_idx", &["1", "2", "3", "8"]);
                if !self.has("-msa_master_idx") {
                    self.flag(0.3, "-ignore_msa_master");
                }
            }
            2..=3 => {
                let file = *self.rng.pick(PATTERNS);
                self.add(&["-phi_pattern", file]);
            }
            _ => {}
        }
    }

    fn rounds(&mut self) {
        if self.rng.chance(0.9) {
            let rounds = *self.rng.pick(&["2", "2", "3", "3", "4", "0"]);
            self.add(&["-num_iterations", rounds]);
        }
        self.maybe(
            0.2,
            "-inclusion_ethresh",
            &["1e-40", "1e-10", "0.01", "0.5", "5", "10", "10.1", "100"],
        );
        self.maybe(0.2, "-pseudocount", &["0", "1", "4", "10", "50"]);
        self.maybe(0.1, "-gap_trigger", &["0", "12", "18.5", "25", "30", "50"]);
    }

    /// Chooses files to which psiblast writes PSSMs.
    fn matrices(&mut self) {
        let writes = [self.rng.chance(0.5), self.rng.chance(0.3)];
        if writes[0] {
            self.add(&["-out_pssm", "p"]);
        }
        if writes[1] {
            self.add(&["-out_ascii_pssm", "a"]);
        }
        if writes.contains(&true) {
            self.flag(0.5, "-save_each_pssm");
            self.flag(0.2, "-save_pssm_after_last_round");
        }
    }

    fn searches(&mut self, trial: &Trial) {
        self.maybe(0.3, "-comp_based_stats", &["0", "1", "1", "2", "3"]);
        if has_smith_waterman_space(trial) {
            self.flag(0.12, "-use_sw_tback");
        }
        self.maybe(0.2, "-seg", &["yes", "yes", "10 1.8 2.1", "25 3.0 3.3"]);
        self.maybe(0.1, "-soft_masking", &["true", "false"]);
        self.flag(0.1, "-lcase_masking");
        self.maybe(0.06, "-threshold", &["0", "9", "10", "12", "13.5", "16"]);
        self.maybe(0.06, "-word_size", &["2", "3", "4"]);
        self.maybe(0.1, "-window_size", &["0", "5", "15", "60"]);
        self.maybe(0.05, "-xdrop_ungap", &["2", "5", "12"]);
        self.maybe(0.05, "-xdrop_gap", &["3", "8", "30"]);
        self.maybe(0.05, "-xdrop_gap_final", &["10", "15", "40"]);
        let evalues = ["1e-50", "1e-10", "1e-3", "0.1", "1", "50", "1000"];
        if self.has("-use_sw_tback") {
            // Alignments with a score of 0 must not be significant (`has_smith_waterman_space`).
            self.maybe(0.3, "-evalue", &evalues[..5]);
        } else {
            self.maybe(0.05, "-dbsize", &["5000", "100000000"]);
            self.maybe(0.05, "-searchsp", &["1000000", "10000000000"]);
            self.maybe(0.3, "-evalue", &evalues);
        }
        // Most matrices have no statistics for searches with patterns.
        if !self.has("-phi_pattern") && self.wants(0.2) {
            let (matrix, costs) = *self.rng.pick(MATRICES);
            self.add(&["-matrix", matrix]);
            if self.rng.chance(0.6) {
                let costs = costs.chunks(2).collect::<Vec<_>>();
                let costs = *self.rng.pick(&costs);
                self.add(&["-gapopen", costs[0], "-gapextend", costs[1]]);
            }
        }
    }

    fn lists(&mut self) {
        self.maybe(0.3, "-max_target_seqs", &["1", "2", "5", "10", "50", "600"]);
        self.maybe(0.06, "-qcov_hsp_perc", &["10", "50", "80"]);
        // With `-qcov_hsp_perc` and these options, BLAST+ crashes if no hit is left.
        if !self.has("-qcov_hsp_perc") {
            self.maybe(0.08, "-max_hsps", &["1", "2", "4"]);
            self.flag(0.05, "-subject_besthit");
        }
        match self.rng.usize(..20) {
            0 => self.maybe(1.0, "-culling_limit", &["1", "2", "5", "2147483647"]),
            1 => {
                let overhang = *self.rng.pick(&["0.1", "0.25", "0.4"]);
                let edge = *self.rng.pick(&["0.05", "0.1", "0.3"]);
                self.add(&["-best_hit_overhang", overhang, "-best_hit_score_edge", edge]);
            }
            _ => {}
        }
    }

    fn parts(&mut self, trial: &Trial) {
        if trial.subject_form == SubjectForm::Masked && !self.has("-phi_pattern") {
            self.maybe(0.5, "-db_soft_mask", &["21"]);
            if !self.has("-db_soft_mask") {
                self.maybe(0.5, "-db_hard_mask", &["21"]);
            }
        }
        if matches!(
            trial.subject_form,
            SubjectForm::Parsed | SubjectForm::Masked | SubjectForm::Aliased
        ) {
            match self.rng.usize(..12) {
                0..=2 => self.add(&["-seqidlist", LISTED]),
                3 => self.add(&["-negative_seqidlist", LISTED]),
                4 => self.maybe(1.0, "-taxids", &["0", "9606", "562,10090"]),
                _ => {}
            }
        }
        if trial.subject_form == SubjectForm::Subject && self.wants(0.1) {
            let range = self.range(&trial.subjects);
            self.add(&["-subject_loc", &range]);
        }
    }

    fn report(&mut self, trial: &Trial) {
        // If a query is masked completely or lacks the pattern, BLAST+ omits the last line end of
        // the incomplete document (docs/differences.md).
        let may_end = ["-seg", "-lcase_masking"].iter().any(|name| self.has(name))
            || self.has("-phi_pattern") && trial.queries.len() > 1;
        match self.rng.usize(..12) {
            0..=2 => {
                if !self.has("-max_target_seqs") {
                    self.maybe(0.2, "-num_descriptions", &["0", "1", "4", "600"]);
                    self.maybe(0.2, "-num_alignments", &["0", "1", "4", "600"]);
                }
                self.maybe(0.1, "-line_length", &["1", "7", "59", "100"]);
                self.maybe(0.1, "-sorthits", &["0", "1", "2", "3", "4"]);
                self.maybe(0.1, "-sorthsps", &["0", "1", "2", "3", "4"]);
                self.flag(0.1, "-html");
                self.maybe(1.0, "-outfmt", &["0", "1", "2", "3", "4"]);
            }
            3..=4 if !may_end => {
                self.maybe(1.0, "-outfmt", &["5", "8", "9", "12", "15", "16", "18"])
            }
            5 => self.add(&["-outfmt", "7"]),
            6 => self.add(&["-outfmt", "10"]),
            7 => {
                let columns = self.columns(&TAXA);
                self.add(&["-outfmt", &format!("7 {columns}")]);
            }
            _ => self.add(&["-outfmt", PSIBLAST.columns]),
        }
    }
}

//! Chooses random options of blastp, most often those that affect which hits are found.

use super::BLASTP;
use crate::fuzz::options::{OptionBuilder, TAXA, has_smith_waterman_space};
use crate::program::{LISTED, SubjectForm, Trial};
use crate::rng::Draw;
use fastrand::Rng;

/// Matrices with all gap costs (open/extend) that have statistics. The first pair is the default.
const MATRICES: &[(&str, &str)] = &[
    ("BLOSUM62", "11/1 9/2 8/2 13/1 6/2 11/2 10/2 7/2 12/1 10/1 9/1"),
    ("BLOSUM45", "14/2 13/3 10/3 16/1 12/3 11/3 16/2 15/2 13/2 12/2 19/1 18/1 17/1"),
    ("BLOSUM50", "13/2 9/3 15/1 13/3 12/3 11/3 10/3 16/2 15/2 14/2 12/2 19/1 18/1 17/1 16/1"),
    ("BLOSUM80", "10/1 8/2 6/2 11/1 25/2 13/2 9/2 7/2 9/1"),
    ("BLOSUM90", "10/1 7/2 9/1 9/2 8/2 6/2 11/1"),
    ("PAM30", "9/1 7/2 5/2 10/1 6/2 8/1 15/3 14/2 14/1 13/3"),
    ("PAM70", "10/1 8/2 6/2 11/1 7/2 9/1 11/2 12/3"),
    ("PAM250", "14/2 13/3 17/1 15/3 14/3 12/3 11/3 17/2 16/2 15/2 13/2 21/1 20/1 19/1 18/1"),
    ("IDENTITY", "15/2"),
];

/// Chooses the options of a trial: an output format, and a few others.
pub fn choose(rng: &mut Rng, trial: &Trial) -> Vec<Vec<String>> {
    let mut choice = OptionBuilder::new(rng);
    let ungapped = choice.rng.chance(0.06);
    choice.words();
    if ungapped {
        choice.add(&["-ungapped", "-comp_based_stats", "F"]);
    } else {
        choice.alignment(trial);
    }
    choice.scoring();
    choice.filters(trial);
    choice.limits();
    choice.statistics(trial);
    choice.restriction(trial);
    choice.threads(trial);
    choice.format();
    choice.groups
}

/// The choice of options of blastp.
impl OptionBuilder<'_> {
    /// Chooses task, word size and threshold, which must fit each other. With a low threshold the
    /// compressed table has too many words to be fast.
    fn words(&mut self) {
        // The large lookup table takes BLAST+ longer than the usual search.
        match self.rng.usize(..64) {
            0..=3 => self.add(&["-task", "blastp-fast"]),
            4..=5 => {
                let size = *self.rng.pick(&["6", "7"]);
                let threshold = *self.rng.pick(&["19", "20.5", "21", "25", "30", "0"]);
                self.add(&["-word_size", size]);
                self.add(&["-threshold", threshold]);
            }
            other => {
                match other {
                    6..=11 => self.add(&["-task", "blastp-short"]),
                    12 => self.add(&["-task", "blastp"]),
                    _ => {}
                }
                // Words of 5 letters take BLAST+ seconds.
                self.maybe(0.06, "-word_size", &["2", "2", "3", "3", "3", "4", "4", "4", "5"]);
                self.maybe(0.08, "-threshold", &["0", "9", "10", "12", "13.5", "16", "20", "30"]);
            }
        }
        self.maybe(0.12, "-window_size", &["0", "1", "5", "15", "20", "60", "100", "1000"]);
        self.maybe(0.06, "-xdrop_ungap", &["0", "0.5", "2", "5", "12", "40"]);
    }

    fn alignment(&mut self, trial: &Trial) {
        self.maybe(0.4, "-comp_based_stats", &["0", "0", "1", "3", "2"]);
        if has_smith_waterman_space(trial) {
            self.flag(0.12, "-use_sw_tback");
        }
        self.maybe(0.08, "-xdrop_gap", &["0", "3", "8", "30", "60"]);
        self.maybe(0.08, "-xdrop_gap_final", &["0", "10", "15", "40", "90"]);
    }

    fn scoring(&mut self) {
        if !self.wants(0.2) {
            return;
        }
        let (matrix, costs) = *self.rng.pick(MATRICES);
        if matrix == "IDENTITY" && self.has("-use_sw_tback") {
            return; // Neither program supports this; their messages come at different times.
        }
        self.add(&["-matrix", matrix]);
        if self.rng.chance(0.6) {
            let costs: Vec<&str> = costs.split(' ').collect();
            let (open, extend) = self.rng.pick(&costs).split_once('/').unwrap_or(("11", "1"));
            self.add(&["-gapopen", open, "-gapextend", extend]);
        }
    }

    fn filters(&mut self, trial: &Trial) {
        self.maybe(0.2, "-seg", &["yes", "yes", "10 1.8 2.1", "12 2.2 2.5", "25 3.0 3.3", "no"]);
        self.maybe(0.08, "-soft_masking", &["true", "false"]);
        if trial.subject_form != SubjectForm::Subject {
            self.flag(0.08, "-lcase_masking");
        }
    }

    fn limits(&mut self) {
        self.maybe(0.3, "-max_target_seqs", &["1", "2", "5", "10", "50", "600", "5000"]);
        self.maybe(0.1, "-max_hsps", &["1", "2", "4"]);
        self.maybe(0.06, "-qcov_hsp_perc", &["10", "50", "80", "99.5", "100"]);
        self.flag(0.05, "-subject_besthit");
        match self.rng.usize(..20) {
            0 => self.maybe(1.0, "-culling_limit", &["1", "2", "3", "5", "20", "2147483646"]),
            1 => {
                let overhang = *self.rng.pick(&["0.1", "0.25", "0.4"]);
                let edge = *self.rng.pick(&["0.05", "0.1", "0.3"]);
                self.add(&["-best_hit_overhang", overhang, "-best_hit_score_edge", edge]);
            }
            _ => {}
        }
    }

    fn statistics(&mut self, trial: &Trial) {
        let usual = ["1e-50", "1e-10", "1e-3", "0.1", "1", "11", "50", "1000"];
        let low = ["0", "1e-300", "1e-180", "1e-100", "10.0"];
        let high = ["1e4", "1e6", "1e12"];
        // In a small search space, which lists and ranges reduce further, Smith-Waterman alignments
        // with a score of 0 are significant. BLAST+ then fails, or repeats them forever.
        let tiny = !self.has("-use_sw_tback");
        match self.rng.usize(..20) {
            0..=6 if tiny => self.maybe(1.0, "-evalue", &usual),
            0..=6 => self.maybe(1.0, "-evalue", &usual[..5]),
            7 if tiny => self.maybe(1.0, "-evalue", &high),
            8 => self.maybe(1.0, "-evalue", &low),
            _ => {}
        }
        let sizes = ["1", "2", "5000", "100000000", "100000000000", "1000000000000000"];
        let spaces = ["0", "1", "1000", "1000000", "10000000000", "1000000000000000"];
        let (sizes, spaces) =
            if tiny { (&sizes[..], &spaces[..]) } else { (&sizes[3..], &spaces[3..]) };
        match self.rng.usize(..20) {
            0 => self.maybe(1.0, "-dbsize", sizes),
            1 => self.maybe(1.0, "-searchsp", spaces),
            2 => {
                self.maybe(1.0, "-dbsize", sizes);
                self.maybe(1.0, "-searchsp", spaces);
            }
            _ => {}
        }
        if self.wants(0.06) {
            let range = self.range(&trial.queries);
            self.add(&["-query_loc", &range]);
        }
        if trial.subject_form == SubjectForm::Subject && self.wants(0.1) {
            let range = self.range(&trial.subjects);
            self.add(&["-subject_loc", &range]);
        }
    }

    /// Chooses a restriction to some of the subjects, or to parts of their residues. Only subjects
    /// with parsed identifiers can be listed by identifier or taxid.
    fn restriction(&mut self, trial: &Trial) {
        if trial.subject_form == SubjectForm::Masked && self.wants(0.7) {
            let name = *self.rng.pick(&["-db_soft_mask", "-db_hard_mask", "-db_hard_mask"]);
            self.add(&[name, "21"]);
        }
        let is_parsed = matches!(
            trial.subject_form,
            SubjectForm::Parsed | SubjectForm::Masked | SubjectForm::Aliased
        );
        if is_parsed && self.wants(0.3) {
            match self.rng.usize(..8) {
                0..=3 => self.add(&["-seqidlist", LISTED]),
                4..=6 => self.add(&["-negative_seqidlist", LISTED]),
                _ => {
                    let taxids = *self.rng.pick(&["0", "9606", "562,10090", "9606,562,4932,0"]);
                    let name = *self.rng.pick(&["-taxids", "-negative_taxids"]);
                    self.add(&[name, taxids]);
                }
            }
        }
    }

    /// Chooses two threads, unless BLAST+'s report can then depend on the threads.
    fn threads(&mut self, trial: &Trial) {
        let unstable = ["-use_sw_tback", "-culling_limit", "-best_hit_overhang", "-qcov_hsp_perc"];
        if trial.subject_form == SubjectForm::Subject || unstable.iter().any(|name| self.has(name))
        {
            return;
        }
        if self.rng.chance(0.15) {
            self.add(&["-num_threads", "2"]);
            self.maybe(0.3, "-mt_mode", &["1"]);
        }
    }

    fn format(&mut self) {
        self.flag(0.05, "-parse_deflines");
        if self.has("-mt_mode") {
            // In the other formats BLAST+ repeats head and foot for each batch.
            return self.add(&["-outfmt", BLASTP.columns]);
        }
        match self.rng.usize(..20) {
            0..=1 => {
                self.maybe(0.1, "-line_length", &["1", "7", "59", "100"]);
                self.maybe(0.1, "-sorthsps", &["0", "1", "2", "3", "4"]);
                if !self.has("-max_target_seqs") {
                    self.maybe(0.1, "-num_descriptions", &["0", "1", "4", "600"]);
                    self.maybe(0.1, "-num_alignments", &["0", "1", "4", "600"]);
                }
                self.flag(0.05, "-html");
                self.maybe(1.0, "-outfmt", &["0", "1", "2", "3", "4"]);
            }
            2 => self.maybe(1.0, "-outfmt", &["5", "8", "9", "11", "12", "15", "16", "18"]),
            3 => self.add(&["-outfmt", "7"]),
            4 => self.add(&["-outfmt", "10"]),
            5..=6 => {
                let format = self.rng.pick(&["6", "7", "10"]).to_string();
                let columns = self.columns(&TAXA);
                self.add(&["-outfmt", &format!("{format} {columns}")]);
            }
            _ => self.add(&["-outfmt", BLASTP.columns]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fasta::Record;

    #[test]
    fn no_option_is_given_twice_and_conflicting_ones_are_apart() {
        let record = || vec![Record::new("a", b"MKVL".repeat(200))];
        for seed in 0..2_000 {
            let mut rng = Rng::with_seed(seed);
            let subject_form = *rng.pick(&[SubjectForm::Plain, SubjectForm::Subject]);
            let trial = Trial {
                program: &BLASTP,
                queries: record(),
                subjects: record(),
                subject_form,
                options: vec![],
                named: false,
                shape: None,
            };
            let options = choose(&mut rng, &trial);
            let mut names: Vec<&str> =
                options.iter().flatten().map(String::as_str).filter(|w| is_name(w)).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{options:?}");
            let both = |a, b| names.contains(&a) && names.contains(&b);
            assert!(!both("-max_target_seqs", "-num_alignments"), "{options:?}");
            assert!(!both("-use_sw_tback", "-num_threads"), "{options:?}");
            assert_eq!(options.last().unwrap()[0], "-outfmt");
        }
    }

    fn is_name(word: &str) -> bool {
        word.starts_with('-') && word.as_bytes()[1..].first().is_some_and(u8::is_ascii_alphabetic)
    }
}

//! Estimates whether the dense filter or the sparse scan is faster for some contexts.
//!
//! The dense filter compares all pairs of residues. The sparse scan pays for each seed, and most
//! for pairs of seeds on a diagonal. The number of seeds depends on the word threshold: with that
//! of blastp there are about three times as many as with that of tblastn.

use fleetblast_stats::frequencies;

use super::context::ChunkContext;
use super::words::{self, WordRule};
use crate::kernel::Kernel;
use crate::scores::{RowNumber, ScoreRows};

/// Nanoseconds of the sparse scan for each subject residue. `HIT_NS` is the time for each seed.
/// `PAIR_NS` is the time for each pair of seeds within the window, which is extended.
const RESIDUE_NS: f64 = 5.0;
const HIT_NS: f64 = 1.5;
const PAIR_NS: f64 = 80.0;
/// Approximate number of words in the sample from which the number of seeds is estimated.
const SAMPLE: usize = 200;

/// Returns whether the dense filter is likely to be faster for the contexts than the sparse scan in
/// `groups` groups.
pub(super) fn dense_is_faster(
    contexts: &[&ChunkContext],
    groups: usize,
    (rule, window): (&WordRule, i32),
    scores: &ScoreRows,
    kernel: Kernel,
) -> bool {
    let residues: usize = contexts.iter().map(|context| context.len()).sum();
    let dense = residues as f64 / pairs_per_ns(kernel);
    let fixed = groups as f64 * RESIDUE_NS;
    // With a window of 0 each seed is extended. Few residues need no estimate of the seeds.
    if window == 0 || dense < fixed {
        return true;
    }
    let hits = expected_hits(contexts, rule, scores);
    let pairs = hits * hits / residues.max(1) as f64 * f64::from(window);
    dense < fixed + hits * HIT_NS + pairs * PAIR_NS
}

/// Returns the number of pairs of residues that the dense filter compares in a nanosecond.
fn pairs_per_ns(kernel: Kernel) -> f64 {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx512(_) => 160.0,
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2(_) => 80.0,
        // From the number of instructions; not measured.
        #[cfg(target_arch = "aarch64")]
        Kernel::Neon(_) => 40.0,
        _ => 20.0,
    }
}

/// Returns the expected number of words of the contexts that match a random word.
fn expected_hits(contexts: &[&ChunkContext], rule: &WordRule, scores: &ScoreRows) -> f64 {
    let frequencies = frequencies::background_frequencies();
    let starts = || {
        contexts.iter().flat_map(|&context| {
            words::word_starts(context, rule.size).map(move |start| (context, start))
        })
    };
    let step = (starts().count() / SAMPLE).max(1);
    let sample = starts().step_by(step);
    let hits = sample.map(|(context, start)| {
        let rows = &context.rows()[start..start + rule.size];
        probability(rows, rule.threshold, scores, &frequencies)
    });
    hits.sum::<f64>() * step as f64
}

/// Returns the probability that a random word scores at least `threshold` against these rows.
fn probability(rows: &[RowNumber], threshold: i32, scores: &ScoreRows, frequencies: &[f64]) -> f64 {
    // Possible scores of the rows up to here, with their probabilities.
    let mut sums = vec![(0, 1.0)];
    for &row in rows {
        let mut next: Vec<(i32, f64)> = Vec::new();
        for (&score, &frequency) in scores.row(row).iter().zip(frequencies) {
            if frequency > 0.0 {
                next.extend(sums.iter().map(|&(sum, p)| (sum + score, p * frequency)));
            }
        }
        next.sort_unstable_by_key(|&(sum, _)| sum);
        sums.clear();
        for run in next.chunk_by(|a, b| a.0 == b.0) {
            sums.push((run[0].0, run.iter().map(|&(_, p)| p).sum()));
        }
    }
    sums.iter().filter(|&&(sum, _)| sum >= threshold).map(|&(_, p)| p).sum()
}

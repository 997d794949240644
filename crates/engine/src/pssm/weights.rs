//! Computes the weight of each sequence in each column, from the letters of the block around it
//! (`_PSIComputeSequenceWeights`, blast_psi_priv.c; Henikoff & Henikoff).

use fleetblast_seq::alphabet::{SIZE, X};

use super::alignment::{GAP, QueryAlignment};
use super::blocks::Blocks;
use super::{ByCode, EPSILON, PssmError};

/// Maximum number of different letters in a column.
pub(super) const KINDS: usize = 20;

/// Weighted statistics of each column.
#[derive(Debug)]
pub(super) struct Weights {
    /// Weighted shares of the letters. The share of gaps is distributed among the letters.
    pub shares: Vec<ByCode>,
    /// Total weight of the sequences with a letter in the column.
    pub gapless: Vec<f64>,
    /// Sum of the numbers of different letters, including gaps, in the columns of the alignment
    /// block.
    pub sigma: Vec<f64>,
    /// Number of columns of the alignment block, by their number of different letters.
    pub kinds: Vec<[u32; KINDS + 1]>,
    /// Number of aligned sequences.
    pub matching: Vec<u32>,
    /// Number of sequences with a weight.
    pub weighed: Vec<u32>,
}

/// The letters of an alignment, stored by column.
struct Columns {
    letters: Vec<u8>,
    rows: usize,
}

impl Columns {
    fn new(alignment: &QueryAlignment) -> Self {
        let rows = alignment.rows().len();
        let mut letters = vec![GAP; rows * alignment.columns()];
        for (number, row) in alignment.rows().iter().enumerate() {
            for (column, cell) in row.iter().enumerate() {
                letters[column * rows + number] = cell.letter();
            }
        }
        Columns { letters, rows }
    }

    fn column(&self, column: usize) -> &[u8] {
        &self.letters[column * self.rows..][..self.rows]
    }
}

/// Statistics of the sequences in a block.
struct Block {
    /// Weight of each sequence.
    weights: Vec<f64>,
    sigma: u32,
    kinds: [u32; KINDS + 1],
}

impl Weights {
    /// Computes weights in all columns where at least `least` sequences are aligned.
    pub fn new(
        alignment: &QueryAlignment,
        blocks: &Blocks,
        least: u32,
        standard: &ByCode,
    ) -> Result<Self, PssmError> {
        let count = alignment.columns();
        let mut weights = Weights {
            shares: vec![[0.0; SIZE]; count],
            gapless: vec![0.0; count],
            sigma: vec![0.0; count],
            kinds: vec![[0; KINDS + 1]; count],
            matching: vec![0; count],
            weighed: vec![0; count],
        };
        let columns = Columns::new(alignment);
        let (mut aligned, mut last) = (Vec::new(), Vec::new());
        let mut known: Option<(i32, i32, Block)> = None;
        for position in 0..count {
            std::mem::swap(&mut aligned, &mut last);
            aligned.clear();
            let rows = alignment.rows().iter().enumerate();
            aligned.extend(rows.filter(|(_, row)| row[position].is_aligned()).map(|(s, _)| s));
            weights.matching[position] = aligned.len() as u32;
            if blocks.sizes[position] == 0 || weights.matching[position] < least {
                known = None;
                continue;
            }
            let bounds = (blocks.left[position], blocks.right[position]);
            // The same sequences in the same block have the same weights.
            let same = known.as_ref().is_some_and(|&(left, right, _)| (left, right) == bounds);
            if !same || aligned != last {
                known = Some((bounds.0, bounds.1, weigh(&columns, &aligned, bounds)));
            }
            let Some((_, _, block)) = &known else { continue };
            weights.set_column(position, &aligned, columns.column(position), block);
        }
        weights.check(alignment, least)?;
        weights.spread_gaps(alignment, least, standard);
        weights.check(alignment, least)?;
        Ok(weights)
    }

    fn set_column(&mut self, position: usize, aligned: &[usize], letters: &[u8], block: &Block) {
        self.sigma[position] = f64::from(block.sigma);
        self.kinds[position] = block.kinds;
        self.weighed[position] = aligned.len() as u32;
        for (&sequence, &weight) in aligned.iter().zip(&block.weights) {
            let letter = letters[sequence];
            self.shares[position][usize::from(letter)] += weight;
            if letter != GAP {
                self.gapless[position] += weight;
            }
        }
    }

    /// Returns the columns with weights in which the query has a letter other than `X`.
    fn known_columns<'a>(
        &'a self,
        alignment: &'a QueryAlignment,
        least: u32,
    ) -> impl Iterator<Item = usize> + use<'a> {
        let seen = move |&p: &usize| self.matching[p] >= least && alignment.query_letter(p) != X;
        (0..self.matching.len()).filter(seen)
    }

    fn check(&self, alignment: &QueryAlignment, least: u32) -> Result<(), PssmError> {
        let whole = |position: usize| {
            let sum: f64 = self.shares[position].iter().sum();
            (0.99..=1.01).contains(&sum)
        };
        if self.known_columns(alignment, least).all(whole) {
            Ok(())
        } else {
            Err(PssmError::Weights)
        }
    }

    /// Distributes the share of gaps among the letters.
    fn spread_gaps(&mut self, alignment: &QueryAlignment, least: u32, standard: &ByCode) {
        let seen: Vec<usize> = self.known_columns(alignment, least).collect();
        for position in seen {
            let shares = &mut self.shares[position];
            for code in 0..SIZE {
                if standard[code] > EPSILON {
                    shares[code] += shares[usize::from(GAP)] * standard[code];
                }
            }
            shares[usize::from(GAP)] = 0.0;
        }
    }
}

/// Computes the weights of the sequences `aligned` from the columns of a block.
fn weigh(columns: &Columns, aligned: &[usize], (left, right): (i32, i32)) -> Block {
    let mut block = Block { weights: Vec::new(), sigma: 0, kinds: [0; KINDS + 1] };
    let mut sums = vec![0.0; aligned.len()];
    let mut distinct = false;
    // Like BLAST+, reads no columns of a block that begins before the query.
    let range = u32::try_from(left).ok().zip(u32::try_from(right).ok());
    for column in range.map_or(0..0, |(left, right)| left as usize..right as usize + 1) {
        let letters = columns.column(column);
        let mut counts = [0_u32; 32];
        for &sequence in aligned {
            counts[usize::from(letters[sequence] & 31)] += 1;
        }
        let kinds = counts.iter().filter(|&&count| count > 0).count() as u32;
        let no_letter = [GAP, X].map(|code| u32::from(counts[usize::from(code)] > 0));
        let letters_seen = (kinds - no_letter[0] - no_letter[1]).min(KINDS as u32);
        block.sigma += kinds;
        block.kinds[letters_seen as usize] += 1;
        distinct |= kinds > 1;
        let shares = counts.map(|count| 1.0 / f64::from(count * kinds));
        for (sum, &sequence) in sums.iter_mut().zip(aligned) {
            *sum += shares[usize::from(letters[sequence] & 31)];
        }
    }
    if distinct {
        let width = f64::from(right - left + 1);
        sums.iter_mut().for_each(|sum| *sum /= width);
        let whole = sums.iter().fold(0.0, |whole, sum| whole + sum);
        sums.iter_mut().for_each(|sum| *sum /= whole);
        block.weights = sums;
    } else {
        block.weights = vec![1.0 / aligned.len() as f64; aligned.len()];
    }
    block
}

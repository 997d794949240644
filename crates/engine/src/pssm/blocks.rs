//! The block of each position: the columns around it in which all sequences that are aligned there
//! are aligned (`_PSIComputeAlignmentBlocks`, blast_psi_priv.c).

use fleetblast_seq::alphabet::X;

use super::alignment::{GAP, QueryAlignment, Row};

/// The block of each position: its first and last column, and its size.
#[derive(Debug)]
pub(super) struct Blocks {
    /// First column. It is -1 for positions at which no sequence but the query is aligned.
    pub left: Vec<i32>,
    /// Last column. For positions at which no sequence but the query is aligned, it is the length
    /// of the query.
    pub right: Vec<i32>,
    /// Number of columns, without those where the query has an `X`. Where no other sequence is
    /// aligned, this is 2 more than the length of the query.
    pub sizes: Vec<u32>,
}

impl Blocks {
    pub fn new(alignment: &QueryAlignment, query: &[u8]) -> Self {
        let columns = query.len() as i32;
        let mut blocks = Blocks {
            left: vec![-1; query.len()],
            right: vec![columns; query.len()],
            sizes: Vec::new(),
        };
        for row in &alignment.rows()[1..] {
            blocks.narrow(row);
        }
        let size = |(left, right): (&i32, &i32)| (right - left + 1) as u32;
        blocks.sizes = blocks.left.iter().zip(&blocks.right).map(size).collect();
        blocks.leave_out_unknown(query);
        blocks
    }

    /// Narrows the blocks to a row's aligned ranges.
    fn narrow(&mut self, row: &Row) {
        // Where a row begins or ends with a gap at the query's own end, BLAST+ sets no bound.
        let mut bound = -1;
        for (position, cell) in row.iter().enumerate() {
            if !cell.is_aligned() {
                continue;
            }
            if position == 0 {
                bound = if cell.letter() == GAP { -1 } else { 0 };
            } else if !row[position - 1].is_aligned() {
                bound = position as i32;
            }
            self.left[position] = self.left[position].max(bound);
        }
        let columns = row.len();
        for (position, cell) in row.iter().enumerate().rev() {
            if !cell.is_aligned() {
                continue;
            }
            if position + 1 == columns {
                bound = if cell.letter() == GAP { columns as i32 } else { position as i32 };
            } else if !row[position + 1].is_aligned() {
                bound = position as i32;
            }
            self.right[position] = self.right[position].min(bound);
        }
    }

    fn leave_out_unknown(&mut self, query: &[u8]) {
        let unknown = query.iter().enumerate().filter(|&(_, &letter)| letter == X);
        for (x, _) in unknown {
            for position in (0..query.len()).filter(|&position| query[position] != X) {
                // Where there is no first column, BLAST+ reads its -1 as a large number.
                let holds = if position < x {
                    self.right[position] >= x as i32
                } else {
                    (0..=x as i32).contains(&self.left[position])
                };
                self.sizes[position] = self.sizes[position].wrapping_sub(u32::from(holds));
            }
        }
    }
}

//! What of the queries that are searched together the result of each depends on.
//!
//! * The table that all their words are in, and how diagonals are remembered: [`Indexing`].
//! * The least lambda, which sets the X-drops of all.
//! * The letters beside a query: an ungapped extension by groups of four bases does not stop where the query ends.

use std::ops::Range;

use fleetblast_seq::nucleotide::blastna::SENTINEL;
use serde::{Deserialize, Serialize};

use super::limits::gapped_x_drops;
use super::reading::{Reading, seed_rules};
use super::seeds::{Beside, Indexing};
use crate::lists::Piece;
use crate::params::NucleotideParams;
use crate::query::Query;

/// Contexts of a query: its strands.
pub(super) const STRANDS: u8 = 2;

/// The company of pieces of queries that are searched together, which may be a run of those that BLAST+ searches together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Company {
    pub(super) indexing: Indexing,
    /// Preliminary X-drop of gapped extensions.
    pub(super) x_drop: i32,
    /// What lies before the first of them.
    pub(super) before: Beside,
    /// What lies after the last of them.
    pub(super) after: Beside,
}

impl Company {
    /// Whether anything lies beside them.
    #[cfg(test)]
    pub fn is_beside(&self) -> bool {
        [&self.before, &self.after].iter().any(|beside| beside.more || !beside.letters.is_empty())
    }

    /// Of all that are searched together.
    pub fn of_all(queries: &[&Query], pieces: &[Piece], params: &NucleotideParams) -> Company {
        let readings: Vec<Reading> = pieces
            .iter()
            .flat_map(|piece| strands().map(move |context| (piece, context)))
            .map(|(piece, context)| Reading::new(queries[piece.query], piece, context, params))
            .collect();
        let contexts = readings.iter().map(|reading| (reading.letters, &reading.regions[..]));
        Company {
            indexing: Indexing::new(contexts, &seed_rules(params)),
            x_drop: gapped_x_drops(
                readings.iter().filter_map(|reading| reading.karlin.as_ref()),
                params,
            )
            .0,
            before: Beside::default(),
            after: Beside::default(),
        }
    }

    /// Of some of them, with as many letters beside them as `reach`.
    pub fn of_some(
        &self,
        queries: &[&Query],
        pieces: &[Piece],
        range: Range<usize>,
        reach: usize,
    ) -> Company {
        if !self.indexing.looks_beside() {
            return self.clone();
        }
        let letters = |piece: &Piece, context| {
            let query = queries[piece.query];
            (&*query.contexts[usize::from(context)].letters, piece.part_of(query.length, context))
        };
        let (mut before, mut after) = (Beside::default(), Beside::default());
        let earlier = pieces[..range.start].iter().rev();
        for (piece, context) in earlier.flat_map(|p| strands().rev().map(move |c| (p, c))) {
            let (whole, part) = letters(piece, context);
            if before.more {
                break;
            }
            if !whole.is_empty() {
                let context = whole[part.start as usize..part.end as usize].iter().rev();
                before.take(std::iter::once(&SENTINEL).chain(context), reach);
            }
        }
        before.letters.reverse();
        let later = pieces[range.end..].iter();
        for (piece, context) in later.flat_map(|p| strands().map(move |c| (p, c))) {
            let (whole, part) = letters(piece, context);
            if after.more {
                break;
            }
            if !whole.is_empty() {
                let context = whole[part.start as usize..part.end as usize].iter();
                after.take(context.chain(std::iter::once(&SENTINEL)), reach);
            }
        }
        Company { before, after, ..self.clone() }
    }
}

fn strands() -> Range<u8> {
    0..STRANDS
}

/// The final X-drop of a batch.
pub(crate) fn final_x_drop(queries: &[&Query], params: &NucleotideParams) -> i32 {
    let contexts = queries.iter().flat_map(|query| &query.contexts);
    gapped_x_drops(contexts.filter_map(|context| context.karlin.as_ref()), params).1
}

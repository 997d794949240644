//! Computes the positions that reports print for an alignment in both of its sequences.

use fleetblast_engine::hits::{Alignment, Edit};
use fleetblast_seq::frame::{Frame, Strand};
use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::model::{QueryResult, SubjectSource};
use crate::row_position::{RowPosition, SearchedExtent};

/// The positions of the two rows of an alignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlignmentPositions {
    /// Position of the row in the query.
    pub query: RowPosition,
    /// Position of the row in the subject.
    pub subject: RowPosition,
}

impl AlignmentPositions {
    /// Computes the printed positions of an alignment.
    ///
    /// # Errors
    /// If the alignment reaches beyond its sequences.
    pub fn from_alignment(
        query: &QueryResult,
        source: &dyn SubjectSource,
        oid: u32,
        alignment: &Alignment,
    ) -> Result<Self, ReportError> {
        let context = query.context(alignment).frame;
        Self::new(alignment, context, &query.extent(), &source.extent(oid))
            .ok_or_else(|| ReportError::misfit(oid, alignment))
    }

    /// Computes the positions, given the strand or frame `context` of the query and the extents of
    /// both sequences. Returns `None` if the alignment reaches beyond them.
    fn new(
        alignment: &Alignment,
        context: Frame,
        query: &SearchedExtent,
        subject: &SearchedExtent,
    ) -> Option<Self> {
        let position = |frame, read, extent| {
            let position = RowPosition::new(frame, read, extent)?;
            if is_printed_in_reverse(context) {
                position.on_other_strand(extent)
            } else {
                Some(position)
            }
        };
        Some(Self {
            query: position(context, &alignment.query, query)?,
            subject: position(alignment.frame, &alignment.subject, subject)?,
        })
    }

    /// Returns the frames of query and subject in the tabular formats. BLAST+ prints 1 there for
    /// proteins, too, if both sequences are proteins.
    pub fn tabular_frames(&self) -> [i8; 2] {
        match (self.query.frame, self.subject.frame) {
            (Frame::Protein, Frame::Protein) => [1, 1],
            (query, Frame::Strand(strand)) => {
                [query.number(), Frame::Strand(self.tabular(strand)).number()]
            }
            (query, subject) => [query.number(), subject.number()],
        }
    }

    /// Returns the strand of the subject in the tabular formats; `None` if it is not aligned base
    /// by base.
    pub fn tabular_strand(&self) -> Option<Strand> {
        self.subject_strand().map(|strand| self.tabular(strand))
    }

    /// Returns the strand that tabular formats show: `strand`, but plus if the subject's first and
    /// last printed positions are equal, because BLAST+ derives the strand from them.
    fn tabular(&self, strand: Strand) -> Strand {
        let [start, end] = self.subject.printed_ends();
        if start == end { Strand::Plus } else { strand }
    }

    /// Returns the strand of a subject that is aligned base by base. Reports show no strand for
    /// other subjects.
    pub fn subject_strand(&self) -> Option<Strand> {
        match self.subject.frame {
            Frame::Strand(strand) => Some(strand),
            Frame::Protein | Frame::Codons(..) => None,
        }
    }
}

/// Whether reports print the alignments of a context in reverse. They always show blastn's query on
/// its plus strand.
fn is_printed_in_reverse(context: Frame) -> bool {
    context == Frame::Strand(Strand::Minus)
}

/// Returns the edits of an alignment in the order of the printed rows. `context` is the strand or
/// frame of the query.
pub fn printed_edits(alignment: &Alignment, context: Frame) -> Vec<Edit> {
    let mut edits = alignment.edits.clone();
    if is_printed_in_reverse(context) {
        edits.reverse();
    }
    edits
}

#[cfg(test)]
mod tests;

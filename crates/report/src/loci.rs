//! Where alignments lie in their two sequences.

use fleetblast_engine::hits::{Alignment, Edit};
use fleetblast_seq::frame::{Frame, Strand};
use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::locus::{Extent, Locus};
use crate::model::{QueryResult, SubjectSource};

/// Where the two rows of an alignment lie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loci {
    /// In the query.
    pub query: Locus,
    /// In the subject.
    pub subject: Locus,
}

impl Loci {
    /// Where an alignment lies as it is printed.
    ///
    /// # Errors
    /// If it reaches beyond its sequences.
    pub fn of(
        query: &QueryResult,
        source: &dyn SubjectSource,
        oid: u32,
        alignment: &Alignment,
    ) -> Result<Self, ReportError> {
        let context = query.context(alignment).frame;
        Self::new(alignment, context, &query.extent(), &source.extent(oid))
            .ok_or_else(|| ReportError::misfit(oid, alignment))
    }

    /// The same, of a query whose context reads it as `context` says.
    fn new(
        alignment: &Alignment,
        context: Frame,
        query: &Extent,
        subject: &Extent,
    ) -> Option<Self> {
        let locus = |frame, read, extent| {
            let locus = Locus::new(frame, read, extent)?;
            if is_turned(context) { locus.turned(extent) } else { Some(locus) }
        };
        Some(Self {
            query: locus(context, &alignment.query, query)?,
            subject: locus(alignment.frame, &alignment.subject, subject)?,
        })
    }

    /// The frames of query and subject in the tabular formats: in blastp, too, BLAST+ says 1.
    pub fn tabular_frames(&self) -> [i8; 2] {
        match (self.query.frame, self.subject.frame) {
            (Frame::Protein, Frame::Protein) => [1, 1],
            (query, Frame::Strand(strand)) => {
                [query.number(), Frame::Strand(self.tabular(strand)).number()]
            }
            (query, subject) => [query.number(), subject.number()],
        }
    }

    /// The strand of the subject in the tabular formats.
    pub fn tabular_strand(&self) -> Option<Strand> {
        self.subject_strand().map(|strand| self.tabular(strand))
    }

    /// Tabular formats tell a strand by its ends, which are the same where the alignment has a single base.
    fn tabular(&self, strand: Strand) -> Strand {
        let [start, end] = self.subject.ends();
        if start == end { Strand::Plus } else { strand }
    }

    /// The strand of the subject, if it is read base by base: others have none in reports.
    pub fn subject_strand(&self) -> Option<Strand> {
        match self.subject.frame {
            Frame::Strand(strand) => Some(strand),
            Frame::Protein | Frame::Codons(..) => None,
        }
    }
}

/// Whether the alignments of a context are printed the other way round.
fn is_turned(context: Frame) -> bool {
    context == Frame::Strand(Strand::Minus)
}

/// The columns of an alignment of a context, in the order of the rows.
pub fn columns(alignment: &Alignment, context: Frame) -> Vec<Edit> {
    let mut edits = alignment.edits.clone();
    if is_turned(context) {
        edits.reverse();
    }
    edits
}

#[cfg(test)]
mod tests;

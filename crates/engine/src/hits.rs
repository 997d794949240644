//! Results of a search: preliminary hits, which are merged across partitions, and final alignments.

use std::ops::Range;

use fleetblast_seq::frame::Frame;
use serde::{Deserialize, Serialize};

/// A preliminary HSP: position and score of a gapped extension.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrelimHsp {
    /// Raw score.
    pub score: i32,
    /// First query residue, 0-based.
    pub q_start: u32,
    /// One past the last query residue.
    pub q_end: u32,
    /// First subject residue, 0-based.
    pub s_start: u32,
    /// One past the last subject residue.
    pub s_end: u32,
    /// Query position from which the gapped extension started. In a pattern search: the index of
    /// the pattern's occurrence in the query, from 0.
    pub q_seed: u32,
    /// Subject position from which the gapped extension started. In a pattern search: the index of
    /// the pattern's occurrence in the subject, from 0.
    pub s_seed: u32,
    /// Preliminary e-value.
    pub evalue: f64,
    /// Number of HSPs that share the e-value: 1, except with sum statistics.
    pub linked: u32,
    /// Number of the query's context, from 0. Query positions are offsets in this context.
    pub context: u8,
    /// Reading frame of the subject. Subject positions are offsets in the translation in this
    /// frame.
    pub frame: Frame,
}

impl PrelimHsp {
    /// Returns the HSP with subject positions relative to `start`.
    #[must_use]
    pub(crate) fn relative_to(&self, start: u32) -> PrelimHsp {
        let [s_start, s_end, s_seed] =
            [self.s_start, self.s_end, self.s_seed].map(|at| at.wrapping_sub(start));
        PrelimHsp { s_start, s_end, s_seed, ..*self }
    }
}

/// The preliminary HSPs of one query in one subject, in ORDER-S (rules 5.7).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrelimHit {
    /// OID in the whole database.
    pub oid: u32,
    /// E-value of the subject, see [`crate::order::best_evalue`].
    pub evalue: f64,
    /// HSPs of the subject; never empty.
    pub hsps: Vec<PrelimHsp>,
}

/// Type of an alignment column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EditOp {
    /// A query residue opposite a subject residue.
    Substitution,
    /// A query residue opposite a gap in the subject.
    GapInSubject,
    /// A subject residue opposite a gap in the query.
    GapInQuery,
}

/// Consecutive alignment columns of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Type of the columns.
    pub op: EditOp,
    /// Number of columns. It is 0 only in the single run of an alignment without letters.
    pub len: u32,
}

/// Adjustment of the matrix of an alignment to the composition of the two sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Adjustment {
    /// No adjustment.
    None,
    /// Scaled matrix. Reports show it as "Composition-based stats.".
    Scaled,
    /// Matrix from relative-entropy optimisation. Reports show it as "Compositional matrix
    /// adjust.".
    Matrix,
}

/// A final alignment of a query and a subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alignment {
    /// Raw score (rounded where composition adjustment scaled it).
    pub score: i32,
    /// Bit score.
    pub bit_score: f64,
    /// Expect value.
    pub evalue: f64,
    /// Number of alignments that share the e-value: 1, except with sum statistics.
    pub linked: u32,
    /// Query residues covered, 0-based half-open, within the context.
    pub query: Range<u32>,
    /// Subject residues covered, 0-based half-open, within the frame.
    pub subject: Range<u32>,
    /// Number of the query's context, from 0.
    pub context: u8,
    /// Frame of the subject.
    pub frame: Frame,
    /// Runs of columns, first to last. Neighbouring runs differ in type. Empty in a
    /// [copy without columns](Self::without_columns).
    pub edits: Vec<Edit>,
    /// Index among the alignments of the subject, in the order of computation. It identifies the
    /// alignment in a [copy without columns](Self::without_columns).
    pub computation_index: u32,
    /// In a pattern search, the occurrence in the query that the alignment contains, from 0;
    /// otherwise 0.
    pub pattern_occurrence: u32,
    /// Composition adjustment used for the score.
    pub adjustment: Adjustment,
    /// Number of columns with identical letters or a positive score in the adjusted matrix. `None`
    /// without adjustment; then the number follows from the plain matrix.
    pub positives: Option<u32>,
    /// Identities and coverage as a file states them; `None` unless the alignment was read from a
    /// file.
    pub stored: Option<StoredNumbers>,
}

/// Identities and coverage that a file states for an alignment. They can differ from counts of its
/// letters, for example if letters were masked for the search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredNumbers {
    /// Number of columns with identical letters; `None` if the file does not state it.
    pub identities: Option<u32>,
    /// Coverage of the query in per cent. BLAST+ has added 0.5 to values below 99, so that
    /// truncation rounds them. `None` if the file does not state the coverage.
    pub coverage: Option<f64>,
}

impl Alignment {
    /// Returns a copy without columns, which suffices for selecting among subjects.
    #[must_use]
    pub fn without_columns(&self) -> Alignment {
        Alignment {
            edits: Vec::new(),
            query: self.query.clone(),
            subject: self.subject.clone(),
            ..*self
        }
    }
}

/// Sort key of a hit in ORDER-H.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HitKey {
    /// The subject's e-value, see [`crate::order::best_evalue`].
    pub evalue: f64,
    /// Score of the subject's first HSP.
    pub score: i32,
    /// OID of the subject.
    pub oid: u32,
}

/// The alignments of one query and one subject, before the selection among subjects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CandidateHit {
    /// OID in the whole database.
    pub oid: u32,
    /// Key by which the result heap ranks the subject: best e-value, and scaled score of the first
    /// alignment. `None` without alignments.
    pub key: Option<HitKey>,
    /// Key that the result heap must accept; otherwise the candidate is dropped. `None` without
    /// this condition, which only searches with `-use_sw_tback` have.
    pub smith_waterman_key: Option<HitKey>,
    /// Alignments in ORDER-S of their scaled scores. The stored scores are rounded.
    pub alignments: Vec<Alignment>,
    /// Whether the report shows the subject. If not, the candidate only takes a place in the hit
    /// list.
    pub is_reported: bool,
}

impl CandidateHit {
    /// Creates a candidate that the report shows.
    pub(crate) fn new(oid: u32, key: Option<HitKey>, alignments: Vec<Alignment>) -> CandidateHit {
        CandidateHit { oid, key, smith_waterman_key: None, alignments, is_reported: true }
    }

    /// Returns a copy whose alignments are [without columns](Alignment::without_columns).
    #[must_use]
    pub fn without_columns(&self) -> CandidateHit {
        CandidateHit {
            alignments: self.alignments.iter().map(Alignment::without_columns).collect(),
            ..*self
        }
    }
}

/// The final alignments of one query in one subject, in printing order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubjectHit {
    /// OID in the whole database.
    pub oid: u32,
    /// Final alignments in printing order; never empty.
    pub alignments: Vec<Alignment>,
    /// Hits of later subjects that a report shows together with this one, because they have the
    /// same identifier. Empty outside reports.
    pub joined: Vec<SubjectHit>,
}

impl SubjectHit {
    /// Creates the hit of one subject.
    pub fn new(oid: u32, alignments: Vec<Alignment>) -> SubjectHit {
        SubjectHit { oid, alignments, joined: Vec::new() }
    }

    /// Iterates over the alignments of this hit and of those that are joined to it, each with the
    /// OID of its subject.
    pub fn all_alignments(&self) -> impl Iterator<Item = (u32, &Alignment)> + Clone {
        let hits = std::iter::once(self).chain(&self.joined);
        hits.flat_map(|hit| hit.alignments.iter().map(|alignment| (hit.oid, alignment)))
    }

    /// Returns the number of alignments of this hit and of those that are joined to it.
    pub fn alignment_count(&self) -> usize {
        self.all_alignments().count()
    }
}

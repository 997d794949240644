//! The traceback stage: computes final alignments from selected preliminary hits (rules 6, 7).
//!
//! [`Traceback::align`] converts one preliminary hit to a [`CandidateHit`]. The result depends only
//! on the query, the subject and the parameters. So candidates can be made in any order, on any
//! thread or rank. [`Selector`](crate::lists::Selector) then replays BLAST+'s processing of them in
//! the order of the preliminary hits.

mod evaluate;
mod local;
mod near;
mod plain;
mod redo;
mod smith_waterman;
mod source;
mod subject;
mod sweep;
mod windows;

use std::sync::Arc;

use crate::containment::ContainmentTree;
use crate::hits::{Adjustment, Alignment, CandidateHit, Edit, EditOp, HitKey, PrelimHit};
use crate::kernel::Kernel;
use crate::lists::linking::uneven::UnevenGaps;
use crate::order::{ContextHsp, Hsp};
use crate::params::{CompositionMode, DatabaseTotals, Method, ProteinParams, truncate_to_i32};
use crate::protein::composition::{
    Adjuster, Composition, PairPvalues, PositionAdjuster, Workspace, composition_of,
};
use crate::pssm::scores::Positions;
use crate::pssm::{Pssm, PssmMaker};
use crate::query::{self, Query};
use crate::scores::{RowNumber, ScoreRows, rows_of_letters};
use crate::subjects::SubjectLetters;
use fleetblast_seq::alphabet;
use fleetblast_seq::frame::Frame;
use fleetblast_seq::translation::GeneticCode;
use fleetblast_stats::scoring::ScoringSystem;

pub use self::evaluate::QueryStatistics;
use self::evaluate::Significance;
use self::local::{ForbiddenCells, LocalScratch};
use self::source::SubjectResidues;
use self::subject::{Segments, Subject};
use crate::xdrop::traced::{self as dp, DpScratch, GapCosts, Scheme};

const LN_2: f64 = std::f64::consts::LN_2;

/// Factor by which composition adjustment multiplies scores and gap costs, for a finer resolution.
const ADJUSTED_SCALE: i32 = 32;

/// Bits per aligned pair from which two sequences may be nearly identical (`blast_kappa.c`).
const NEAR_IDENTICAL_BITS: f64 = 1.74;

/// Parameters of the traceback, the same for all queries and subjects.
#[derive(Debug)]
pub struct Traceback {
    method: Method,
    mode: CompositionMode,
    /// Adjuster of matrices, if `mode` requires adjusted matrices.
    adjuster: Option<Adjuster>,
    pair_pvalues: Option<PairPvalues>,
    significance: Significance,
    scoring: ScoringSystem,
    plain: ScoreRows,
    /// Gap costs in scaled units.
    gaps: GapCosts,
    /// X-drop in scaled units.
    x_drop: i32,
    /// Number of scaled units in a raw unit: 1, or [`ADJUSTED_SCALE`].
    scale: i32,
    /// λ per scaled unit.
    lambda: f64,
    /// Share of identical residues above which the aligned parts of two sequences are nearly
    /// identical.
    near_identical: f64,
    /// Whether alignments have common ends only in the same frame of the subject.
    common_ends_have_frames: bool,
    segments: Segments,
    /// Limits of gaps between linked HSPs; `None` if HSPs are not linked.
    linked_gaps: Option<UnevenGaps>,
    /// Genetic code that translates the subjects; `None` for proteins.
    code: Option<GeneticCode>,
    /// Genetic code with which positive columns are counted, that of the reports (`-db_gencode`);
    /// `None` for protein subjects.
    report_code: Option<GeneticCode>,
}

/// A query prepared for the traceback.
#[derive(Clone, Debug)]
pub struct TracebackQuery {
    /// Contexts of the query, by number.
    contexts: Vec<TracebackContext>,
    /// Least score of an alignment, in scaled units.
    least_score: i32,
}

/// A context of a query, prepared for the traceback.
#[derive(Clone, Debug)]
pub struct TracebackContext {
    /// Number of the context.
    number: u8,
    /// Residues for scoring, with C in place of U.
    residues: Vec<u8>,
    /// Row numbers of the residues. `reversed_rows` has them backwards.
    rows: Vec<RowNumber>,
    reversed_rows: Vec<RowNumber>,
    /// Residues for scoring, with U unchanged.
    letters: Arc<[u8]>,
    /// Residues of the query for counting positive columns.
    counted: Arc<[u8]>,
    /// Composition of the whole context; `None` for a translation.
    composition: Option<Composition>,
    /// Ungapped statistics; a context without them has no hits.
    karlin: Option<fleetblast_stats::karlin::KarlinParameters>,
    significance: Significance,
    /// Scores by position, if the query has a PSSM. Otherwise row numbers are those of letters.
    plain: Option<ScoreRows>,
    /// Data for scaling the PSSM to the composition of subjects, if requested.
    positions: Option<PositionAdjuster>,
    search_space: i64,
    length_adjustment: i32,
}

/// Work space of a thread, reused for all alignments.
#[derive(Debug)]
pub struct TracebackScratch {
    dp: DpScratch,
    local: LocalScratch,
    forbidden: ForbiddenCells,
    subject: Subject,
    matrix: fleetblast_stats::matrix::ScoreMatrix,
    padded: ScoreRows,
    positions: Positions,
    workspace: Workspace,
    /// Alignments of each strand of the translated sequence.
    trees: [ContainmentTree; 2],
}

impl TracebackScratch {
    /// Creates an empty work space for these instructions.
    pub fn new(kernel: Kernel) -> Self {
        let matrix = [[0; alphabet::SIZE]; alphabet::SIZE];
        TracebackScratch {
            dp: DpScratch::new(kernel),
            local: LocalScratch::new(kernel),
            forbidden: ForbiddenCells::default(),
            subject: Subject::new(),
            padded: ScoreRows::of_matrix(&matrix),
            positions: Positions::new(),
            matrix,
            workspace: Workspace::new(kernel),
            trees: [ContainmentTree::new(), ContainmentTree::new()],
        }
    }
}

/// An alignment in scaled units, before its e-value is known.
#[derive(Clone, Debug)]
struct ScaledAlignment {
    /// Number of the context.
    context: u8,
    /// Frame of the subject.
    frame: Frame,
    score: i32,
    bounds: crate::order::Bounds,
    edits: Vec<Edit>,
    adjustment: Adjustment,
}

impl Hsp for ScaledAlignment {
    fn bounds(&self) -> crate::order::Bounds {
        self.bounds
    }
    fn score(&self) -> i32 {
        self.score
    }
}

impl ContextHsp for ScaledAlignment {
    fn context(&self) -> u8 {
        self.context
    }
}

impl Traceback {
    /// Prepares the traceback of a search of a database with the given totals.
    ///
    /// A matrix without frequency data (IDENTITY) is never adjusted, whatever `params.composition`
    /// says.
    pub fn new(params: &ProteinParams, totals: &DatabaseTotals) -> Self {
        let scoring = &params.scoring;
        let wanted = params.composition != CompositionMode::Off && !params.common.ungapped;
        let adjuster = Adjuster::new(scoring, f64::from(ADJUSTED_SCALE)).filter(|_| wanted);
        let adjuster = match adjuster {
            Some(adjuster) if params.unified_p => Some(adjuster.with_unified_p_values()),
            adjuster => adjuster,
        };
        let mut method = params.method();
        if method == Method::Redo && adjuster.is_none() {
            method = Method::Plain;
        }
        let scale = if adjuster.is_some() { ADJUSTED_SCALE } else { 1 };
        let lambda = params.gapped_lambda() / f64::from(scale);
        let x_drop = final_x_drop(params);
        Traceback {
            method,
            mode: if adjuster.is_some() { params.composition } else { CompositionMode::Off },
            pair_pvalues: (adjuster.is_some() && params.unified_p).then(PairPvalues::new),
            adjuster,
            significance: Significance::new(params, totals, scale),
            scoring: scoring.clone(),
            plain: ScoreRows::of_matrix(&scoring.scores),
            gaps: GapCosts { open: scoring.gap_open * scale, extend: scoring.gap_extend * scale },
            x_drop: if matches!(method, Method::Redo | Method::SmithWaterman) {
                truncate_to_i32(
                    (params.common.xdrop_final_bits * LN_2 / lambda).max(f64::from(x_drop)),
                )
            } else {
                x_drop
            },
            scale,
            lambda,
            near_identical: params.common.release.near_identical_fraction,
            common_ends_have_frames: params.common.release.common_ends_have_frames,
            segments: Segments::new(),
            linked_gaps: params.linked_gaps(),
            code: params.subject_translation.as_ref().map(|it| it.code.clone()),
            report_code: params.subject_translation.as_ref().map(|it| it.report_code.clone()),
        }
    }

    /// Prepares a query. `least_cutoff` is the lowest cut-off score of HSPs in the batch of the
    /// query; `None` if HSPs are not linked.
    pub fn query(&self, query: &Query, least_cutoff: Option<i32>) -> TracebackQuery {
        let contexts = (0..).zip(&query.contexts);
        let pssm = query.pssm.as_deref();
        TracebackQuery {
            contexts: contexts.map(|context| self.context(context, pssm)).collect(),
            least_score: least_cutoff.map_or(1, |score| score.saturating_mul(self.scale)),
        }
    }

    fn context(
        &self,
        (number, context): (u8, &query::Context),
        pssm: Option<&Pssm>,
    ) -> TracebackContext {
        let residues: Vec<u8> = context
            .letters
            .iter()
            .map(|&code| if code == alphabet::U { alphabet::C } else { code })
            .collect();
        let rows = match pssm {
            Some(_) => (0..residues.len() as RowNumber).collect(),
            None => rows_of_letters(&residues),
        };
        let positions = pssm.and_then(|pssm| self.positions(pssm, &context.letters));
        let gapped = pssm.map(|pssm| match &positions {
            // Only K is computed anew.
            Some(positions) => pssm.gapped.with_k_of(positions.gapped),
            None => pssm.gapped,
        });
        let is_translated = context.frame != Frame::Protein;
        TracebackContext {
            significance: gapped.map_or(self.significance, |gapped| self.significance.with(gapped)),
            plain: pssm.map(|pssm| ScoreRows::of_positions(&pssm.scores)),
            positions,
            reversed_rows: rows.iter().rev().copied().collect(),
            rows,
            number,
            letters: context.letters.clone(),
            // Translated subjects are compared with the masked query (`s_ComputeNumIdentities`,
            // blast_kappa.c).
            counted: match self.code {
                Some(_) => context.letters.clone(),
                None => context.unmasked.clone(),
            },
            composition: (!is_translated).then(|| composition_of(&context.letters)),
            residues,
            karlin: context.karlin,
            search_space: context.search_space,
            length_adjustment: context.length_adjustment,
        }
    }

    /// Creates the data for scaling a PSSM to the composition of subjects. They also give the
    /// statistics of Smith–Waterman alignments that are not scaled.
    fn positions(&self, pssm: &Pssm, letters: &[u8]) -> Option<PositionAdjuster> {
        if !matches!(self.method, Method::Redo | Method::SmithWaterman) {
            return None;
        }
        let maker = PssmMaker::new(&self.scoring, 0)?;
        PositionAdjuster::new(&maker, &self.scoring, pssm, letters, f64::from(self.scale))
    }

    /// Returns the scores of a context without adjustment.
    fn plain_scores<'a>(&'a self, query: &'a TracebackContext) -> &'a ScoreRows {
        query.plain.as_ref().unwrap_or(&self.plain)
    }

    /// Aligns a query with a subject. `hit` is the preliminary hit of the query in this subject,
    /// with HSPs in ORDER-S.
    pub fn align(
        &self,
        query: &TracebackQuery,
        subject: &dyn SubjectLetters,
        hit: &PrelimHit,
        scratch: &mut TracebackScratch,
    ) -> CandidateHit {
        let letters = subject;
        let subject = SubjectResidues::new(letters, self.code.as_ref());
        let mut candidate = self.candidate(query, &subject, hit, scratch);
        let subject = match &self.report_code {
            Some(code) => SubjectResidues::new(letters, Some(code)),
            None => subject,
        };
        for (number, alignment) in candidate.alignments.iter_mut().enumerate() {
            alignment.computation_index = number as u32;
            alignment.positives = self.count_positives(query, &subject, alignment, scratch);
        }
        candidate
    }

    /// Counts the columns of an alignment that are positive in the last matrix of its subject, as
    /// BLAST+ does (`s_ComputeNumIdentities`, blast_kappa.c). `None` if no matrix was adjusted.
    fn count_positives(
        &self,
        query: &TracebackQuery,
        subject: &SubjectResidues<'_>,
        alignment: &Alignment,
        scratch: &TracebackScratch,
    ) -> Option<u32> {
        let context = &query.contexts[usize::from(alignment.context)];
        let redoes = matches!(self.method, Method::Redo | Method::SmithWaterman);
        if !redoes || self.adjuster.is_none() || context.positions.is_some() {
            return None;
        }
        let range = alignment.subject.start as usize..alignment.subject.end as usize;
        let subject = subject.part(alignment.frame, range);
        let (mut q, mut s) = (alignment.query.start as usize, 0);
        let mut positives = 0;
        for &Edit { op, len } in &alignment.edits {
            let len = len as usize;
            if op == EditOp::Substitution {
                let columns = context.counted[q..q + len].iter().zip(&subject[s..s + len]);
                let is_positive = |&(&q, &s): &(&u8, &u8)| {
                    q == s || scratch.matrix[usize::from(q)][usize::from(s)] > 0
                };
                positives += columns.filter(is_positive).count() as u32;
            }
            q += if op == EditOp::GapInQuery { 0 } else { len };
            s += if op == EditOp::GapInSubject { 0 } else { len };
        }
        Some(positives)
    }

    fn candidate(
        &self,
        query: &TracebackQuery,
        subject: &SubjectResidues<'_>,
        hit: &PrelimHit,
        scratch: &mut TracebackScratch,
    ) -> CandidateHit {
        match self.method {
            Method::Ungapped => ungapped(query, hit),
            Method::Plain => self.plain(query, subject, hit, scratch),
            Method::Redo => {
                let (scaled, pair_p) = self.redo(query, subject, hit, scratch);
                self.evaluate(query, self.length(subject), hit.oid, scaled, pair_p)
            }
            Method::SmithWaterman => {
                let found = self.smith_waterman(query, subject, hit, scratch);
                let (length, pair_p) = (self.length(subject), found.pair_p);
                let mut candidate = self.evaluate(query, length, hit.oid, found.alignments, pair_p);
                candidate.smith_waterman_key = found.first;
                candidate
            }
        }
    }

    /// Returns the length of a subject for the statistics of alignments. Without linked alignments
    /// BLAST+ counts the bases of a translated subject.
    fn length(&self, subject: &SubjectResidues<'_>) -> usize {
        match self.linked_gaps {
            Some(_) => subject.linked_length(),
            None => subject.stored_length(),
        }
    }

    fn scheme<'a>(&self, scores: &'a ScoreRows) -> Scheme<'a> {
        Scheme { scores, gaps: self.gaps, x_drop: self.x_drop }
    }
}

/// Returns the raw final gapped X-drop (rules 3.3).
fn final_x_drop(params: &ProteinParams) -> i32 {
    let lambda = params.gapped_lambda();
    let preliminary = truncate_to_i32(params.common.xdrop_gapped_bits * LN_2 / lambda);
    truncate_to_i32((params.common.xdrop_final_bits * LN_2 / lambda).max(f64::from(preliminary)))
}

/// Converts the hit of an ungapped search: every HSP is a single run of pairs (rules 5.9).
fn ungapped(query: &TracebackQuery, hit: &PrelimHit) -> CandidateHit {
    let bits = |hsp: &crate::hits::PrelimHsp| {
        let karlin = query.contexts[usize::from(hsp.context)].karlin;
        karlin.map_or(0.0, |karlin| karlin.bit_score(hsp.score))
    };
    let alignment = |hsp: &crate::hits::PrelimHsp| Alignment {
        score: hsp.score,
        bit_score: bits(hsp),
        evalue: hsp.evalue,
        linked: hsp.linked,
        query: hsp.q_start..hsp.q_end,
        subject: hsp.s_start..hsp.s_end,
        context: hsp.context,
        frame: hsp.frame,
        edits: vec![Edit { op: EditOp::Substitution, len: hsp.q_end - hsp.q_start }],
        computation_index: 0,
        pattern_occurrence: 0,
        adjustment: Adjustment::None,
        positives: None,
        stored: None,
    };
    // The HSPs keep their order, which depends on the number of subjects with hits.
    let alignments = hit.hsps.iter().map(alignment).collect();
    CandidateHit::new(hit.oid, HitKey::of_prelim(hit), alignments)
}

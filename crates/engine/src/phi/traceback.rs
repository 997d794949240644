//! Computes alignments from preliminary hits (`PHIGappedAlignmentWithTraceback`, phi_gapalign.c;
//! `s_PHITracebackFromHSPList`, blast_traceback.c). The letters of the pattern do not count in the
//! score.

use std::ops::Range;
use std::sync::Arc;

use fleetblast_seq::alphabet::SENTINEL;
use fleetblast_seq::frame::Frame;

use crate::hits::{Adjustment, Alignment, CandidateHit, Edit, HitKey, PrelimHit, PrelimHsp};
use crate::kernel::Kernel;
use crate::order::compare_hsps;
use crate::params::{ProteinParams, truncate_to_i32};
use crate::pattern::PatternSearch;
use crate::pattern::lay::Pair;
use crate::query::Query;
use crate::scores::{RowNumber, ScoreRows, rows_of_letters};
use crate::xdrop::traced::{DpScratch, align_forward, push};
use crate::xdrop::{Extent, GapCosts, Scheme};

/// The letters of a subject in both directions. A sentinel follows them, which is read but never
/// aligned.
#[derive(Debug, Default)]
pub(super) struct Letters {
    forwards: Vec<u8>,
    backwards: Vec<u8>,
}

impl Letters {
    pub fn load(&mut self, residues: &[u8]) {
        self.forwards.clear();
        self.forwards.extend_from_slice(residues);
        self.forwards.push(SENTINEL);
        self.backwards.clear();
        self.backwards.extend(residues.iter().rev());
        self.backwards.push(SENTINEL);
    }

    fn len(&self) -> usize {
        self.forwards.len() - 1
    }
}

/// A query and the occurrences of the pattern in it.
#[derive(Debug)]
pub(super) struct Seeds {
    letters: Arc<[u8]>,
    rows: Vec<RowNumber>,
    reversed_rows: Vec<RowNumber>,
    pub occurrences: Vec<Range<u32>>,
}

impl Seeds {
    pub fn new(search: &PatternSearch, query: &Query) -> Self {
        let letters = Arc::clone(&query.first().letters);
        let rows = rows_of_letters(&letters);
        let reversed_rows = rows.iter().rev().copied().collect();
        let occurrences = search.pattern.occurrences_in(query);
        Seeds { letters, rows, reversed_rows, occurrences }
    }

    /// Extends an occurrence in the query and one in a subject to the left and to the right. `left`
    /// and `right` receive the columns, outwards from the occurrences.
    pub fn beside(
        &self,
        of_query: &Range<u32>,
        (subject, of_subject): (&Letters, &Range<u32>),
        scheme: &Scheme<'_>,
        dp: &mut DpScratch,
        [left, right]: [&mut Vec<Edit>; 2],
    ) -> [Extent; 2] {
        let before = |length: usize, place: &Range<u32>| length - place.start as usize;
        let rows = &self.reversed_rows[before(self.rows.len(), of_query)..];
        let letters = &subject.backwards[before(subject.len(), of_subject)..];
        let to_left = align_forward(rows, letters, scheme, dp, left);
        let rows = &self.rows[of_query.end as usize..];
        let letters = &subject.forwards[of_subject.end as usize..];
        [to_left, align_forward(rows, letters, scheme, dp, right)]
    }
}

/// Parameters of the traceback of a search.
#[derive(Debug)]
pub(crate) struct Traceback {
    search: PatternSearch,
    scores: ScoreRows,
    gaps: GapCosts,
    x_drop: i32,
    /// Largest e-value that is reported.
    limit: f64,
    /// Number of occurrences of the pattern in the whole database.
    pub occurrences: u64,
}

/// A query prepared for alignment.
#[derive(Debug)]
pub(crate) struct Aligner<'a> {
    seeds: Seeds,
    cutoff: i32,
    statistics: QueryStatistics<'a>,
}

/// Score statistics of a query.
#[derive(Debug)]
pub(crate) struct QueryStatistics<'a> {
    traceback: &'a Traceback,
    effective: f64,
}

impl QueryStatistics<'_> {
    /// Returns the e-value of a score.
    pub fn evalue(&self, score: i32) -> f64 {
        // BLAST+ holds this count in 32 bits.
        let in_database = f64::from(self.traceback.occurrences as i32);
        self.traceback.search.statistics.evalue(score, [self.effective, in_database])
    }

    /// Returns the bit score of a score.
    pub fn bits(&self, score: i32) -> f64 {
        self.traceback.search.statistics.bit_score(score)
    }
}

/// The work space of a thread.
#[derive(Debug)]
pub(crate) struct Scratch {
    dp: DpScratch,
    letters: Letters,
    left: Vec<Edit>,
    right: Vec<Edit>,
}

impl Scratch {
    pub fn new(kernel: Kernel) -> Self {
        let dp = DpScratch::new(kernel);
        Scratch { dp, letters: Letters::default(), left: Vec::new(), right: Vec::new() }
    }
}

impl Traceback {
    pub fn new(search: &PatternSearch, params: &ProteinParams) -> Self {
        let scoring = &params.scoring;
        let raw = |bits: f64| bits * std::f64::consts::LN_2 / params.gapped_lambda();
        let preliminary = truncate_to_i32(raw(params.common.xdrop_gapped_bits));
        let x_drop =
            truncate_to_i32(raw(params.common.xdrop_final_bits).max(f64::from(preliminary)));
        Traceback {
            search: search.clone(),
            scores: ScoreRows::of_matrix(&scoring.scores),
            gaps: GapCosts { open: scoring.gap_open, extend: scoring.gap_extend },
            x_drop: x_drop.max(scoring.gap_open + scoring.gap_extend),
            limit: params.common.evalue,
            occurrences: 0,
        }
    }

    pub fn aligner(&self, query: &Query) -> Aligner<'_> {
        let seeds = Seeds::new(&self.search, query);
        let cutoff = self.search.cutoff(self.limit, query, &seeds.occurrences);
        let statistics = self.prepared_statistics(&seeds.occurrences);
        Aligner { seeds, cutoff, statistics }
    }

    pub fn statistics(&self, query: &Query) -> QueryStatistics<'_> {
        self.prepared_statistics(&self.search.pattern.occurrences_in(query))
    }

    fn prepared_statistics(&self, occurrences: &[Range<u32>]) -> QueryStatistics<'_> {
        QueryStatistics { traceback: self, effective: self.search.effective_count(occurrences) }
    }
}

impl Aligner<'_> {
    /// Aligns the query with a subject. `hit` is the preliminary hit of the query in this subject.
    pub fn align(&self, subject: &[u8], hit: &PrelimHit, scratch: &mut Scratch) -> CandidateHit {
        let (statistics, traceback) = (&self.statistics, self.statistics.traceback);
        let places = traceback.search.pattern.occurrences(subject);
        scratch.letters.load(subject);
        let of = |hsp: &PrelimHsp| {
            let mut alignment = self.alignment(hsp, subject, &places, scratch)?;
            alignment.evalue = statistics.evalue(alignment.score);
            alignment.bit_score = statistics.bits(alignment.score);
            Some(alignment)
        };
        let mut alignments: Vec<Alignment> = hit.hsps.iter().filter_map(of).collect();
        alignments.sort_by(compare_hsps);
        alignments.retain(|alignment| alignment.evalue <= traceback.limit);
        for (number, alignment) in (0..).zip(&mut alignments) {
            alignment.computation_index = number;
        }
        let key = HitKey::of_alignments(hit.oid, &alignments);
        CandidateHit::new(hit.oid, key, alignments)
    }

    fn alignment(
        &self,
        hsp: &PrelimHsp,
        subject: &[u8],
        places: &[Range<u32>],
        scratch: &mut Scratch,
    ) -> Option<Alignment> {
        let Traceback { search, scores, gaps, x_drop, .. } = self.statistics.traceback;
        let (gaps, x_drop) = (*gaps, *x_drop);
        let of_query = self.seeds.occurrences.get(hsp.q_seed as usize)?;
        let of_subject = places.get(hsp.s_seed as usize)?;
        let Scratch { dp, letters, left, right } = scratch;
        let scheme = Scheme { scores, gaps, x_drop };
        let [to_left, to_right] =
            self.seeds.beside(of_query, (letters, of_subject), &scheme, dp, [left, right]);
        let score = to_left.score + to_right.score;
        if score < self.cutoff {
            return None;
        }
        let mut edits = Vec::new();
        left.iter().rev().for_each(|edit| push(&mut edits, edit.op, edit.len));
        let in_query = of_query.start as usize..of_query.end as usize;
        let pair = Pair {
            letters: &self.seeds.letters[in_query.clone()],
            rows: &self.seeds.rows[in_query],
            subject: &subject[of_subject.start as usize..of_subject.end as usize],
            scores,
            gaps,
        };
        search.pattern.append_columns(&pair, &mut edits);
        right.iter().for_each(|edit| push(&mut edits, edit.op, edit.len));
        let reach = |place: &Range<u32>, before: usize, behind: usize| {
            place.start - before as u32..place.end + behind as u32
        };
        Some(Alignment {
            score,
            bit_score: f64::NAN,
            evalue: f64::NAN,
            linked: 1,
            query: reach(of_query, to_left.query, to_right.query),
            subject: reach(of_subject, to_left.subject, to_right.subject),
            context: 0,
            frame: Frame::Protein,
            edits,
            computation_index: 0,
            pattern_occurrence: hsp.q_seed,
            adjustment: Adjustment::None,
            positives: None,
            stored: None,
        })
    }
}

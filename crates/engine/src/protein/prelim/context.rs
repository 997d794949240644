//! The contexts of queries, or of chunks of long queries, that the preliminary search uses (rules
//! 2.3, 3.3, 5.1).

use std::ops::Range;

use fleetblast_seq::{alphabet, mask};
use fleetblast_stats::gumbel::GumbelParameters;
use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::sums::gap_decay_divisor;

use crate::lists::linking::{self, EvenGapStatistics};
use crate::lists::{FramePart, QueryChunk, masks_of_chunk};
use crate::params::{CompositionMode, DatabaseTotals, ProteinParams, truncate_to_i32};
use crate::protein;
use crate::protein::linking::LinkingRule;
use crate::query::{self, Query, QueryRules, concatenated_length};
use crate::scores::{RowNumber, rows_of_letters};

const LN_2: f64 = std::f64::consts::LN_2;
/// Largest e-value, in an average subject, of an ungapped HSP that is kept if queries or subjects,
/// but not both, are translated (`CUTOFF_E_BLASTX`, `CUTOFF_E_TBLASTN`). Other searches have no
/// such limit.
const TRANSLATED_UNGAPPED_EVALUE: f64 = 1.0;

/// A context of a query, or of a chunk of a query, with its thresholds.
#[derive(Clone, Debug)]
pub(super) struct ChunkContext {
    /// Index of the chunk in the block of queries.
    pub chunk: usize,
    /// Number of the context within the chunk.
    pub number: u8,
    /// Number of the context within the whole query.
    pub whole: u8,
    /// Start of the chunk in the context of the whole query.
    pub offset: u32,
    /// Number of the first context of the strand: `number` itself, or the first frame of its
    /// strand. HSPs can be contained in, or linked to, HSPs of the same strand only.
    pub strand: u8,
    /// Residues, followed by a sentinel.
    letters: Vec<u8>,
    /// Row numbers of the residues and of the sentinel.
    rows: Vec<RowNumber>,
    /// Row numbers of the residues, backwards.
    pub reversed_rows: Vec<RowNumber>,
    /// Ranges where words may be indexed.
    pub regions: Vec<Range<u32>>,
    /// Ungapped X-drop, raw.
    pub x_drop: i32,
    /// Least score of an ungapped HSP that is kept.
    pub cutoff_ungapped: i32,
    /// Least score of a gapped HSP that is kept.
    pub cutoff_gapped: i32,
    /// Ungapped statistics.
    pub karlin: KarlinParameters,
    /// Gapped statistics without the correction for finite size, which `gumbel` has.
    pub gapped: KarlinParameters,
    pub gumbel: GumbelParameters,
    /// Whether words match by their score alone, as with a PSSM. Otherwise equal words match, too.
    pub by_score: bool,
    /// Effective search space. If the batch is searched in chunks, it may be that of another query
    /// ([`QueryChunk::spaces`]).
    pub search_space: i64,
    /// Length adjustment.
    pub length_adjustment: i32,
    /// Parameters for linking with even gaps, which the batch determines; `None` without it.
    pub even_linking: Option<EvenGapStatistics>,
}

impl ChunkContext {
    /// Creates the contexts of a chunk, except those that cannot be searched (rules 1.4).
    pub fn of_chunk(
        queries: &[Query],
        number: usize,
        chunk: &QueryChunk,
        params: &ProteinParams,
        totals: &DatabaseTotals,
        gumbel: &GumbelParameters,
    ) -> impl Iterator<Item = ChunkContext> {
        let query = &queries[chunk.query];
        (0..query.contexts.len() as u8).filter_map(move |context| {
            ChunkContext::new((number, context), query, chunk, params, totals, gumbel)
        })
    }

    fn new(
        (of, number): (usize, u8),
        query: &Query,
        chunk: &QueryChunk,
        params: &ProteinParams,
        totals: &DatabaseTotals,
        gumbel: &GumbelParameters,
    ) -> Option<ChunkContext> {
        let pssm = query.pssm.as_deref();
        let search_space = chunk.spaces[usize::from(number)];
        let part = match params.query_translation {
            Some(_) => FramePart::new(query.length, &chunk.range, number),
            None => FramePart {
                context: number,
                start: chunk.range.start,
                length: chunk.range.len() as u32,
            },
        };
        let context = &query.contexts[usize::from(part.context)];
        let (residues, masks, karlin) = if chunk.chunked {
            chunk_masks(query, chunk, (number, part), params)?
        } else {
            (context.letters.to_vec(), context.masks.clone(), context.karlin?)
        };
        let len = residues.len() as u32;
        let length_adjustment = match chunk.chunked {
            true => params.length_adjustment(residues.len(), &karlin, totals),
            false => context.length_adjustment,
        };
        // Even with a PSSM, the trigger for gapped extensions uses the statistics of the letters.
        let trigger = ungapped_trigger(residues.len(), &karlin, params, totals);
        let (karlin, gapped) = match pssm {
            Some(pssm) => (pssm.ungapped, pssm.gapped),
            None => (karlin, params.scoring.gapped_statistics.karlin_parameters()),
        };
        let gumbel = gumbel.with_scale_and_k(&gapped);
        let statistics = (&karlin, &gapped, &gumbel);
        let cutoff_max = cutoff_score(len, statistics, search_space, params, totals);
        let cutoff_ungapped = trigger.min(cutoff_max);
        let cutoff_gapped = match params.linked_cutoff(&gapped, chunk.average_length, totals) {
            Some(linked) => linked.min(cutoff_max),
            None => cutoff_max,
        };
        let x_drop = if params.common.xdrop_ungapped_bits == 0.0 {
            cutoff_ungapped
        } else {
            // A value below 0 would end an extension before it begins.
            truncate_to_i32((params.common.xdrop_ungapped_bits * LN_2 / karlin.lambda).ceil())
                .max(0)
        };
        let (letters, rows, reversed_rows) = laid_out(&residues);
        Some(ChunkContext {
            chunk: of,
            number,
            whole: part.context,
            offset: part.start,
            strand: if params.query_translation.is_some() { number / 3 * 3 } else { number },
            letters,
            rows,
            reversed_rows,
            regions: mask::unmasked_ranges(&masks, len),
            x_drop,
            cutoff_ungapped,
            cutoff_gapped,
            karlin,
            gapped,
            gumbel,
            by_score: pssm.is_some(),
            search_space,
            length_adjustment,
            even_linking: chunk.even_linking,
        })
    }

    /// Sets the score rows of the residues: one for each position, from `first` on.
    pub fn score_by_position(&mut self, first: RowNumber) {
        let len = self.len() as RowNumber;
        self.rows = (first..first + len).chain([RowNumber::from(alphabet::SENTINEL)]).collect();
        self.reversed_rows = (first..first + len).rev().collect();
    }

    /// Creates a context of these residues; the test sets the cut-offs.
    #[cfg(test)]
    pub fn for_test(residues: &[u8]) -> ChunkContext {
        let karlin = KarlinParameters { lambda: 0.3, k: 0.1, log_k: 0.1f64.ln(), h: 0.4 };
        let (letters, rows, reversed_rows) = laid_out(residues);
        ChunkContext {
            chunk: 0,
            number: 0,
            whole: 0,
            offset: 0,
            strand: 0,
            letters,
            rows,
            reversed_rows,
            regions: mask::unmasked_ranges(&[], residues.len() as u32),
            x_drop: 16,
            cutoff_ungapped: 1,
            cutoff_gapped: 1,
            karlin,
            gapped: karlin,
            gumbel: crate::protein::prelim::testing::gumbel(),
            by_score: false,
            search_space: 1,
            length_adjustment: 0,
            even_linking: None,
        }
    }

    /// Returns the number of residues.
    pub fn len(&self) -> usize {
        self.letters.len() - 1
    }

    /// Returns the residues.
    pub fn residues(&self) -> &[u8] {
        &self.letters[..self.len()]
    }

    /// Returns the residues, followed by the sentinel.
    pub fn residues_with_end(&self) -> &[u8] {
        &self.letters
    }

    /// Returns the row numbers of the residues.
    pub fn rows(&self) -> &[RowNumber] {
        &self.rows[..self.len()]
    }

    /// Returns the row numbers of the residues and of the sentinel.
    pub fn rows_with_end(&self) -> &[RowNumber] {
        &self.rows
    }
}

/// Returns the residues with a sentinel, their row numbers with that of the sentinel, and their row
/// numbers backwards without it.
fn laid_out(residues: &[u8]) -> (Vec<u8>, Vec<RowNumber>, Vec<RowNumber>) {
    let letters = [residues, &[alphabet::SENTINEL]].concat();
    let rows = rows_of_letters(&letters);
    let reversed = rows[..residues.len()].iter().rev().copied().collect();
    (letters, rows, reversed)
}

/// Computes the residues, masks and statistics of a context of a chunk, which BLAST+ treats as a
/// query of its own.
fn chunk_masks(
    query: &Query,
    chunk: &QueryChunk,
    (number, part): (u8, FramePart),
    params: &ProteinParams,
) -> Option<(Vec<u8>, Vec<Range<u32>>, KarlinParameters)> {
    let context = &query.contexts[usize::from(part.context)];
    let range = part.start as usize..(part.start + part.length) as usize;
    let unmasked = context.unmasked.get(range)?;
    let masks =
        masks_of_chunk(&context.lower_case, params.common.query_start_in_record, &chunk.range);
    let frame = query.contexts[usize::from(number)].frame;
    let lower_case =
        protein::query::lower_case_in(frame, &masks, chunk.range.len() as u32, part.length);
    let masks = protein::query::masks(unmasked, &lower_case, params);
    let residues = params.hard_masked(unmasked, &masks);
    let karlin = params.ungapped(&residues)?;
    Some((residues, masks, karlin))
}

/// Computes the parameters for linking with even gaps, which a batch of whole queries determines.
/// Returns `None` if HSPs are not linked in this way, or if no context has statistics.
pub(crate) fn even_linking(
    queries: &[&Query],
    params: &ProteinParams,
    totals: &DatabaseTotals,
) -> Option<EvenGapStatistics> {
    if params.linking_rule() != Some(LinkingRule::Even) {
        return None;
    }
    let contexts = || queries.iter().flat_map(|query| &query.contexts);
    let (length, count) = concatenated_length(contexts().map(|context| context.letters.len()));
    let searched = || contexts().filter_map(|context| Some((context.karlin?, context)));
    // The least λ; among equal ones the first.
    let karlin = searched().map(|(karlin, _)| karlin);
    let karlin =
        karlin.reduce(|least, other| if other.lambda < least.lambda { other } else { least });
    let cutoffs = searched().map(|(karlin, context)| {
        let by_evalue = karlin.cutoff_score(params.common.evalue, context.search_space);
        ungapped_trigger(context.letters.len(), &karlin, params, totals).min(by_evalue)
    });
    Some(EvenGapStatistics {
        karlin: karlin?,
        average_length: (length.saturating_sub(1) / count.max(1)) as i32,
        least_cutoff: cutoffs.min()?,
    })
}

/// Returns the least score of an ungapped HSP that is extended with gaps, or kept in an ungapped
/// search. `len` is the length of its context in residues. The e-value limit may lower this score
/// (`BlastInitialWordParametersUpdate`, blast_parameters.c).
fn ungapped_trigger(
    len: usize,
    karlin: &KarlinParameters,
    params: &ProteinParams,
    totals: &DatabaseTotals,
) -> i32 {
    let bits = params.common.gap_trigger_bits;
    let trigger = truncate_to_i32((bits * LN_2 + karlin.log_k) / karlin.lambda);
    let is_one_translated =
        params.query_translation.is_some() != params.subject_translation.is_some();
    if !params.common.ungapped || !is_one_translated {
        return trigger;
    }
    let decay = params.linking.map_or(1.0, |_| gap_decay_divisor(linking::DECAY, 1));
    let mean = totals.mean_length;
    let space = mean.min(len as i64) * mean;
    trigger.min(karlin.cutoff_score(TRANSLATED_UNGAPPED_EVALUE * decay, space))
}

/// Returns the lowest cut-off score of HSPs in the contexts of a batch of whole queries, for
/// searches with linked HSPs. `average_length` is the average length of these contexts.
pub(crate) fn least_cutoff(
    queries: &[&Query],
    average_length: i32,
    params: &ProteinParams,
    totals: &DatabaseTotals,
) -> i32 {
    let gapped = params.scoring.gapped_statistics.karlin_parameters();
    let gumbel = GumbelParameters::new(&params.scoring).with_scale_and_k(&gapped);
    let linked = params.linked_cutoff(&gapped, average_length, totals).unwrap_or(i32::MAX);
    let cutoff = |context: &query::Context| {
        let karlin = context.karlin?;
        let (len, statistics) = (context.letters.len() as u32, (&karlin, &gapped, &gumbel));
        Some(cutoff_score(len, statistics, context.search_space, params, totals).min(linked))
    };
    // A batch without statistics has no HSPs.
    let cutoffs = queries.iter().flat_map(|query| &query.contexts).filter_map(cutoff);
    cutoffs.min().unwrap_or(linked)
}

/// Returns the least score whose e-value is within the preliminary limit.
fn cutoff_score(
    len: u32,
    (karlin, gapped, gumbel): (&KarlinParameters, &KarlinParameters, &GumbelParameters),
    search_space: i64,
    params: &ProteinParams,
    totals: &DatabaseTotals,
) -> i32 {
    if params.common.ungapped {
        return karlin.cutoff_score(params.common.evalue, search_space);
    }
    if !params.finite_size {
        return gapped.cutoff_score(params.common.evalue, search_space);
    }
    gumbel.cutoff_score(evalue_limit(params), len as i32, totals.min_length, totals.residues)
}

/// Returns the largest preliminary e-value that is kept (rules 5.1).
pub(super) fn evalue_limit(params: &ProteinParams) -> f64 {
    let adjusted =
        matches!(params.composition, CompositionMode::Conditional | CompositionMode::Always);
    if adjusted && params.finite_size && !params.common.ungapped {
        5.0 * params.common.evalue
    } else {
        params.common.evalue
    }
}

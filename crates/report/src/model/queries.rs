//! The queries of a report, with their hits.

use std::collections::BTreeSet;
use std::ops::Range;

use fleetblast_engine::hits::{Alignment, SubjectHit};
use fleetblast_engine::pattern::Pattern;
use fleetblast_engine::query::{Context, Query};
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::id::SeqId;

use crate::row_position::{RowPosition, SearchedExtent};

/// Data about the search of a query, which an archive stores and its reports show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArchivedQuery {
    /// λ, K and H of ungapped and of gapped alignments; -1 for unknown ones.
    pub parameters: [[f64; 3]; 2],
    /// Whether the archive is of an iteration of psiblast.
    pub is_of_psiblast: bool,
    /// Masks that the report shows for the query, each with the number of its frame.
    pub masks: Vec<(i8, Range<u32>)>,
    /// Whether `masks` belong to this query. BLAST+ can assign masks of another query, which the
    /// pairwise report does not show.
    pub has_own_masks: bool,
    /// Number of letters that were searched.
    pub searched_length: usize,
}

/// A query as it was read, and as archives store it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadQuery<'a> {
    /// The definition line without `>`.
    pub defline: &'a [u8],
    /// Ranges of lower-case letters of the whole query, ascending.
    pub lower_case: &'a [Range<u32>],
    /// Data about the query's search, if the query comes from an archive.
    pub archived: Option<&'a ArchivedQuery>,
    /// Whether the query has masks of repeats.
    pub has_repeats: bool,
    /// Whether BLAST+ searched a batch before the batch of the query.
    pub follows_searched_batch: bool,
    /// BLAST+'s warnings about the query's letters and definition line, as printed.
    pub warnings: &'a [String],
}

/// A query and its hits.
#[derive(Clone, Debug)]
pub struct QueryResult<'a> {
    /// Number of the query in the report, from 1.
    pub number: usize,
    /// Number of the query among those without parsed identifiers, from 1; part of the name
    /// `Query_N`.
    pub unnamed: usize,
    /// Name of the query from a file, used instead of `Query_N`.
    pub name_from_file: Option<&'a [u8]>,
    /// Data that was read with the query.
    pub read: ReadQuery<'a>,
    /// The definition line; with `-parse_deflines` the rest of it, after the identifiers.
    pub title: &'a [u8],
    /// The parsed identifiers; empty without `-parse_deflines`.
    pub ids: &'a [SeqId],
    /// Codes of the whole query as read: NCBIstdaa for a protein, blastna for bases.
    pub residues: &'a [u8],
    /// The searched range (`-query_loc`), 0-based and half-open; `None` for the whole query.
    pub range: Option<Range<u32>>,
    /// The query as searched: its statistics and masks, relative to the searched range.
    pub query: &'a Query,
    /// Hits of the query, best first. They include those that another rank formats.
    pub hits: &'a [SubjectHit],
    /// Number of hits of the query, on all ranks.
    pub hit_count: usize,
    /// False if BLAST+ could not search any query of the batch. The report then differs from that
    /// of a search without hits.
    pub batch_searched: bool,
    /// Whether an earlier query of the batch has hits. Only the text before a query's subjects
    /// depends on it.
    pub follows_hits: bool,
    /// Warnings of the search, which XML prints before `No hits found`; empty if there are none.
    pub messages: &'a [u8],
    /// The search that produced this result, if the program searches the query several times.
    pub repeated_search: Option<RepeatedSearch<'a>>,
}

/// One of several searches of a query: an iteration, or the search for an occurrence of a pattern.
#[derive(Clone, Copy, Debug)]
pub struct RepeatedSearch<'a> {
    /// Number of the search among those of its query, from 1.
    pub number: usize,
    /// Number of the search among those of all queries, from 1.
    pub serial: usize,
    /// OIDs of the subjects that the previous iteration found with an e-value below the threshold
    /// for the model. The description table separates them from new ones.
    pub previous_model_oids: &'a BTreeSet<u32>,
    /// Number of alignments of the search, including those of subjects that are not shown. The
    /// comments of format 7 print it.
    pub alignments: usize,
    /// The occurrence of the pattern that the alignments contain, if the user gave a pattern.
    pub occurrence: Option<Occurrence<'a>>,
}

/// A pattern, and its occurrences in the query. Each occurrence has its own hits and report.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence<'a> {
    /// The pattern.
    pub pattern: &'a Pattern,
    /// The ranges of all occurrences in the query.
    pub ranges: &'a [Range<u32>],
    /// Index into `ranges` of the occurrence that this report is about.
    pub number: usize,
}

impl Occurrence<'_> {
    /// Returns the range of the query that the reported occurrence covers.
    pub(crate) fn place(&self) -> &Range<u32> {
        &self.ranges[self.number]
    }
}

impl<'a> QueryResult<'a> {
    /// The occurrence of the pattern that the alignments contain, if the user gave a pattern.
    pub(crate) fn occurrence(&self) -> Option<Occurrence<'a>> {
        self.repeated_search?.occurrence
    }

    /// Returns the context of an alignment.
    pub(crate) fn context(&self, alignment: &Alignment) -> &Context {
        &self.query.contexts[usize::from(alignment.context)]
    }

    /// Returns the context whose statistics reports show for the query: the first one with
    /// statistics, or else the first one.
    pub(crate) fn statistics(&self) -> &Context {
        let known = self.query.contexts.iter().find(|context| context.karlin.is_some());
        known.unwrap_or_else(|| self.query.first())
    }

    /// Returns the messages of XML: warnings of the search, and whether there are no hits.
    pub(crate) fn xml_message(&self) -> Vec<u8> {
        let mut message = self.messages.to_vec();
        if self.hit_count == 0 {
            if !message.is_empty() {
                message.push(b' ');
            }
            message.extend_from_slice(b"No hits found");
        }
        message
    }

    /// Returns the length of the query and its searched range.
    pub(crate) fn extent(&self) -> SearchedExtent {
        let whole = SearchedExtent::fully_searched(self.residues.len() as u32);
        self.range
            .clone()
            .map_or(whole.clone(), |searched| SearchedExtent { searched_range: searched, ..whole })
    }

    /// Returns the length of the searched range.
    pub(crate) fn searched_length(&self) -> usize {
        self.extent().searched_range.len()
    }

    /// Returns the divisor of the coverage of an alignment: a number of letters of the query.
    pub(crate) fn covered_length(&self) -> usize {
        self.read.archived.map_or_else(|| self.searched_length(), |it| it.searched_length)
    }

    /// Returns the unmasked letters that reports show in the query's row of an alignment, which is
    /// at `position`. Returns `None` if the query has no such letters.
    pub(crate) fn view(&self, alignment: &Alignment, position: &RowPosition) -> Option<&[u8]> {
        self.letters(alignment.context, position, |letter| {
            alignment.query.start + (letter - position.frame_range.start)
        })
    }

    /// Returns the unmasked letters that reports show at a position. If they are codons,
    /// `in_context` converts an index in the frame of the whole query to an index in the context,
    /// which covers only the searched range.
    pub(crate) fn letters(
        &self,
        context: u8,
        position: &RowPosition,
        in_context: impl Fn(u32) -> u32,
    ) -> Option<&[u8]> {
        let RowPosition { frame, frame_range, sequence_range } = position;
        let range = |start: u32, end: u32| start as usize..end as usize;
        match frame {
            Frame::Protein | Frame::Strand(Strand::Plus) => {
                self.residues.get(range(sequence_range.start, sequence_range.end))
            }
            // No row shows the query on its minus strand.
            Frame::Strand(Strand::Minus) => None,
            Frame::Codons(..) => {
                let shown = &self.query.contexts[usize::from(context)].shown;
                shown.get(range(in_context(frame_range.start), in_context(frame_range.end)))
            }
        }
    }

    /// Returns the masks of a context, as ranges of the whole query as written. `frame` is the
    /// context's strand or frame as printed: BLAST+ numbers the frames of masks within the searched
    /// range, but looks them up by the alignment's frame number in the whole query.
    pub(crate) fn masks(&self, context: u8, frame: Frame) -> Vec<Range<u32>> {
        if self.query.pssm.is_some() {
            // BLAST+'s results of searches with a PSSM have no masks.
            return Vec::new();
        }
        match frame {
            Frame::Codons(..) => self.stored_masks(frame),
            Frame::Protein | Frame::Strand(_) => {
                self.uncoded_masks(&self.query.contexts[usize::from(context)])
            }
        }
    }

    /// Returns the [masks](Self::masks) of a context as far as they overlap the row at `position`.
    /// Long queries have too many masks to look at all of them for each alignment.
    pub(crate) fn masks_within(&self, context: u8, position: &RowPosition) -> Vec<Range<u32>> {
        let row = &position.sequence_range;
        let context_of_row = &self.query.contexts[usize::from(context)];
        let is_archived = self.query.pssm.is_some() || self.read.archived.is_some();
        if is_archived || matches!(position.frame, Frame::Codons(..)) {
            let mut masks = self.masks(context, position.frame);
            masks.retain(|mask| mask.start < row.end && row.start < mask.end);
            return masks;
        }
        let searched = self.extent().searched_range;
        let [from, to] = [row.start, row.end]
            .map(|end| end.clamp(searched.start, searched.end) - searched.start);
        let length = searched.end - searched.start;
        let letters = match context_of_row.frame.strand() {
            Some(Strand::Minus) => length - to..length - from,
            _ => from..to,
        };
        // The starts of the masks of a context ascend, and so do their ends.
        let masks = &context_of_row.masks;
        let first = masks.partition_point(|mask| mask.end <= letters.start);
        let last = masks.partition_point(|mask| mask.start < letters.end).max(first);
        self.masks_as_written(context_of_row.frame, &masks[first..last])
    }

    /// Returns the [masks within](Self::masks_within) a row, if they are masks of this query.
    pub(crate) fn own_masks_within(&self, context: u8, position: &RowPosition) -> Vec<Range<u32>> {
        match self.read.archived {
            Some(archived) if !archived.has_own_masks => Vec::new(),
            _ => self.masks_within(context, position),
        }
    }

    /// Returns the masks of a nucleotide query that BLAST+ knows before the search, as ascending
    /// ranges of the whole query.
    pub(crate) fn known_masks(&self) -> Vec<Range<u32>> {
        let searched = self.query.contexts.iter().find(|context| !context.unmasked.is_empty());
        let mut masks = searched.map_or_else(Vec::new, |context| self.uncoded_masks(context));
        masks.sort_by_key(|mask| mask.start);
        masks
    }

    /// Returns the [masks](Self::masks) of a context, if they are masks of this query.
    pub(crate) fn own_masks(&self, context: u8, frame: Frame) -> Vec<Range<u32>> {
        match self.read.archived {
            Some(archived) if !archived.has_own_masks => Vec::new(),
            _ => self.masks(context, frame),
        }
    }

    /// Returns the masks of a protein or a strand, as ranges of the whole query as written.
    fn uncoded_masks(&self, context: &Context) -> Vec<Range<u32>> {
        if let Some(archived) = self.read.archived {
            return archived.masks.iter().map(|(_, mask)| mask.clone()).collect();
        }
        self.masks_as_written(context.frame, &context.masks)
    }

    /// Converts masks of a protein or a strand to ranges of the whole query as written.
    fn masks_as_written(&self, frame: Frame, masks: &[Range<u32>]) -> Vec<Range<u32>> {
        let extent = self.extent();
        let positions = masks.iter().filter_map(|mask| RowPosition::new(frame, mask, &extent));
        positions.map(|position| position.sequence_range).collect()
    }

    /// Returns the masks that BLAST+ keeps with the results of the query, as ranges of the whole
    /// query, each with its frame. Omits a mask of the whole searched range
    /// (`Blast_GetSeqLocInfoVector`, blast_aux.cpp). Empty for a PSSM, and for a batch that could
    /// not be searched.
    pub(crate) fn result_masks(&self) -> Vec<(Frame, Range<u32>)> {
        if self.query.pssm.is_some() || !self.batch_searched {
            return Vec::new();
        }
        let mut masks = Vec::new();
        for context in &self.query.contexts {
            match context.frame {
                Frame::Codons(..) => {
                    let stored = self.stored_masks(context.frame).into_iter();
                    masks.extend(stored.map(|mask| (context.frame, mask)));
                }
                Frame::Protein | Frame::Strand(_) if masks.is_empty() => {
                    // Masks of a strand have no frame, and ascend on the sequence as written.
                    let found = self.uncoded_masks(context).into_iter();
                    masks.extend(found.map(|mask| (Frame::Protein, mask)));
                    masks.sort_by_key(|(_, mask)| mask.start);
                }
                // The masks of the other strand are the same ones.
                Frame::Protein | Frame::Strand(_) => {}
            }
        }
        let searched = self.extent().searched_range;
        masks.retain(|(_, mask)| *mask != searched);
        masks
    }

    /// Returns the masks that BLAST+ stores for a codon frame, as ranges of the whole query.
    fn stored_masks(&self, frame: Frame) -> Vec<Range<u32>> {
        if let Some(archived) = self.read.archived {
            let same = archived.masks.iter().filter(|(number, _)| *number == frame.number());
            return same.map(|(_, mask)| mask.clone()).collect();
        }
        let (extent, length) = (self.extent(), self.searched_length() as i64);
        let same = self.query.contexts.iter().filter(|other| other.frame == frame);
        // On the plus strand the range runs from the first base of the first residue to the first
        // base of the last one. On the minus strand it runs from the base after the last residue to
        // the last base of the first residue (`BlastMaskLocProteinToDNA`, blast_filter.c).
        let number = i64::from(frame.number());
        let bases = |mask: &Range<u32>| {
            let [first, last] = [mask.start, mask.end - 1].map(|residue| 3 * i64::from(residue));
            let (from, to) = match number < 0 {
                true => (length - last + number + 1, length - first + number),
                false => (first + number - 1, last + number - 1),
            };
            let [from, to] = [from, to].map(|base| base.clamp(0, length - 1) as u32);
            extent.searched_range.start + from..extent.searched_range.start + to + 1
        };
        let masks = same.flat_map(|other| &other.masks).map(bases);
        masks.filter(|mask| !mask.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_within_a_row_are_those_that_overlap_it() {
        let masks = [0..3, 5..9, 8..12, 20..21, 30..40];
        let mirrored = masks.iter().rev().map(|mask| 40 - mask.end..40 - mask.start).collect();
        let context = |strand, masks| Context {
            frame: Frame::Strand(strand),
            unmasked: Vec::new().into(),
            shown: Vec::new().into(),
            letters: Vec::new().into(),
            lower_case: Vec::new(),
            masks,
            karlin: None,
            length_adjustment: 0,
            search_space: 0,
        };
        let contexts =
            vec![context(Strand::Plus, masks.to_vec()), context(Strand::Minus, mirrored)];
        let query = Query { length: 40, contexts, pssm: None };
        let result = QueryResult {
            read: ReadQuery::default(),
            follows_hits: false,
            number: 1,
            unnamed: 1,
            name_from_file: None,
            title: b"",
            ids: &[],
            residues: &[0; 60],
            range: Some(10..50),
            query: &query,
            hits: &[],
            hit_count: 0,
            batch_searched: true,
            messages: &[],
            repeated_search: None,
        };
        for (start, end) in
            (10..=50).flat_map(|start| (start + 1..=50).map(move |end| (start, end)))
        {
            let covered = start..end;
            let frame = Frame::Strand(Strand::Plus);
            let row = RowPosition { frame, frame_range: covered.clone(), sequence_range: covered };
            for context in [0, 1] {
                let mut all = result.masks(context, frame);
                all.retain(|mask| row.overlapped_letters(mask).is_some());
                assert_eq!(result.masks_within(context, &row), all, "{start}..{end}");
            }
        }
    }
}

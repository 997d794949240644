//! The layout of a block's output: the role that holds each piece, and the order of the pieces.

use std::mem::take;
use std::ops::Range;

use fleetblast_fleet::ids::{BlockId, PassId};
use fleetblast_fleet::work::{Extent, PieceOwner};
use fleetblast_report::model::{Format, SamOptions};
use fleetblast_report::pieces;
use fleetblast_report::sam::{self, SamHeader};

use super::hit_stages::PrintedHits;
use super::questions::{self, Answers, FormattedPiece};
use crate::error::Error;
use crate::ranks::job::{PreparedBlock, RankJob};
use crate::reports::{self, report_failure};

/// The layout of a block's output.
#[derive(Default)]
pub struct BlockLayout {
    /// The owner and length of each piece, in the order of the output.
    pub extents: Vec<Extent>,
    /// The pieces that the master has formatted.
    pub pieces: Vec<Vec<u8>>,
    /// Range of bytes of each query in the block's output.
    pub queries: Vec<Range<u64>>,
    /// Bytes of all pieces before the current piece of the master.
    length: u64,
    /// Bytes of the current piece of the master, which is not in `extents` yet.
    piece: Vec<u8>,
}

impl BlockLayout {
    /// Lays out a block. `answers` are the answers to the questions about `printed`.
    ///
    /// # Errors
    /// The answers do not match the questions, or rows cannot be written.
    pub fn new(
        job: &RankJob,
        place: (BlockId, PassId),
        block: &PreparedBlock,
        printed: PrintedHits,
        answers: Answers,
    ) -> Result<Self, Error> {
        match &job.report.output.format {
            Format::Sam(options) => {
                BlockLayout::from_lines((job, options), place, &printed, answers)
            }
            _ => BlockLayout::from_subjects(job, place, block, printed, answers),
        }
    }

    /// Creates the layout of an output that consists of one piece of the master.
    pub fn from_bytes(piece: Vec<u8>) -> Self {
        let mut layout = BlockLayout { piece, ..BlockLayout::default() };
        layout.end_piece();
        layout
    }

    /// Returns the bytes before the queries, then the bytes of each query. The master must have
    /// formatted all pieces.
    pub fn query_parts(&self) -> Vec<Vec<u8>> {
        let text = self.pieces.concat();
        let first = self.queries.first().map_or(text.len(), |own| own.start as usize);
        let own = |own: &Range<u64>| text[own.start as usize..own.end as usize].to_vec();
        [text[..first].to_vec()].into_iter().chain(self.queries.iter().map(own)).collect()
    }

    /// Lays out a block in SAM: the header lines of its references, then its lines. The publisher
    /// merges the references of all blocks into the header.
    fn from_lines(
        (job, options): (&RankJob, &SamOptions),
        (id, pass): (BlockId, PassId),
        PrintedHits { hits, asked_hits, .. }: &PrintedHits,
        mut answers: Answers,
    ) -> Result<Self, Error> {
        let mut layout = BlockLayout::default();
        let mut header = SamHeader::new(&job.report, options);
        let lines = questions::take_lines(id, asked_hits, hits, &mut answers)?.into_iter().map(
            |subjects| {
                let mut lines = subjects.concat();
                sam::sort_records(options, &mut lines, |(key, _)| key);
                lines.iter().for_each(|(key, _)| header.add_reference(&key.reference));
                lines
            },
        );
        let lines: Vec<_> = lines.flatten().collect();
        layout.piece = header.reference_lines().to_vec();
        for (_, FormattedPiece { partition, number, length }) in lines {
            layout.append_piece(PieceOwner::Partition(pass, partition), number, length);
        }
        layout.end_piece();
        Ok(layout)
    }

    fn from_subjects(
        job: &RankJob,
        (id, pass): (BlockId, PassId),
        block: &PreparedBlock,
        mut printed: PrintedHits,
        mut answers: Answers,
    ) -> Result<Self, Error> {
        let pieces = printed.take_pieces(id, &mut answers)?;
        let rows = printed.take_rows(job, id, &mut answers)?;
        let PrintedHits { hits, orders, .. } = printed;
        let queries = Vec::with_capacity(hits.len());
        let mut layout = BlockLayout { queries, ..BlockLayout::default() };
        let mut results: Vec<_> = hits
            .iter()
            .enumerate()
            .map(|(query, hits)| block.query_result(query, hits.len()))
            .collect();
        if let (BlockId(0), Some(first)) = (id, results.first()) {
            pieces::first_query_prologue(&job.report, first, &mut layout.piece)
                .map_err(|error| report_failure(&error))?;
        }
        for range in reports::batches_for_report(&job.report, &block.batches, results.len()) {
            let first = range.start;
            let batch = &mut results[range];
            reports::mark_earlier_hits(batch);
            let start = layout.length();
            pieces::batch_header(&job.report, job.subjects, batch, &mut layout.piece)
                .map_err(|error| report_failure(&error))?;
            for (query, result) in (first..).zip(&*batch) {
                let start = if query == first { start } else { layout.length() };
                let arranged = (&*orders[query], &*rows[query]);
                let [head, tail] = pieces::query_frame(&job.report, result, &hits[query], arranged)
                    .map_err(|error| report_failure(&error))?;
                layout.append_bytes(&head);
                for &place in &orders[query] {
                    let FormattedPiece { partition, number, length } = pieces[query][place];
                    layout.append_piece(PieceOwner::Partition(pass, partition), number, length);
                }
                layout.append_bytes(&tail);
                layout.queries.push(start..layout.length());
            }
            pieces::batch_footer(&job.report, batch, &mut layout.piece);
            let end = layout.length();
            if let Some(last) = layout.queries.last_mut() {
                last.end = end;
            }
        }
        layout.end_piece();
        Ok(layout)
    }

    /// Appends bytes to the current piece of the master.
    pub fn append_bytes(&mut self, bytes: &[u8]) {
        self.piece.extend_from_slice(bytes);
    }

    /// Appends a piece that another role has formatted. Ignores an empty piece.
    pub fn append_piece(&mut self, owner: PieceOwner, piece: u32, length: u64) {
        if length > 0 {
            self.end_piece();
            self.length += length;
            self.extents.push(Extent { owner, piece, length });
        }
    }

    /// Returns the number of bytes of all pieces so far.
    pub fn length(&self) -> u64 {
        self.length + self.piece.len() as u64
    }

    /// Ends the current piece of the master.
    pub fn end_piece(&mut self) {
        if !self.piece.is_empty() {
            let (piece, length) = (self.pieces.len() as u32, self.piece.len() as u64);
            self.length += length;
            self.extents.push(Extent { owner: PieceOwner::Master, piece, length });
            self.pieces.push(take(&mut self.piece));
        }
    }
}

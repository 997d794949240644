//! Executes the work of a worker: searches its partitions, aligns hits, and formats subjects.

use std::collections::HashMap;
use std::iter;
use std::sync::Arc;

use fleetblast_db::load::PageKind;
use fleetblast_engine::grouping::GroupDivision;
use fleetblast_engine::hits::{Alignment, CandidateHit, SubjectHit};
use fleetblast_engine::lists::{Merger, WorstKeptHits};
use fleetblast_engine::search::{Searcher, Searchers};
use fleetblast_fleet::ids::PartitionId;
use fleetblast_fleet::work::{WorkerOutcome, WorkerWork};
use fleetblast_report::error::ReportError;
use fleetblast_report::model::{Format, QueryResult};
use fleetblast_report::pieces;
use fleetblast_report::sam::{self, SamRecord};
use fleetblast_report::table::DescriptionRow;
use rayon::prelude::*;

use super::WorkerExecutor;
use super::piece_store::PieceStore;
use super::shared::{PassKey, WorkerShared, lock, unknown_block};
use crate::error::{Error, exit};
use crate::iteration::subject_letters;
use crate::ranks::job::{PreparedBlock, RankJob};
use crate::ranks::wire::{
    AlignedLetters, Answer, Bytes, HitToAlign, Question, ReportedHit, SamLine, decode, encode,
};
use crate::reports::report_failure;
use crate::search::DatabaseScan;
use crate::trace::{Kind, LoadingCosts, Span};

/// Executor of the work of a worker on its compute thread.
pub struct SearchWorker<'a> {
    job: &'a RankJob<'a>,
    /// The partitions that this rank holds.
    scans: HashMap<PartitionId, DatabaseScan<'a>>,
    passes: HashMap<PassKey, SearchedPass>,
    shared: Arc<WorkerShared>,
}

/// A pass of a block, with the alignments that the worker has made for it.
struct SearchedPass {
    block: PreparedBlock,
    merger: Merger,
    /// The searcher, if the whole block needs only one. Otherwise, searchers are created again for
    /// each partition.
    ready: Option<Searcher>,
    /// Alignments of this worker, by index of the query and OID of the subject.
    aligned: HashMap<(u32, u32), CandidateHit>,
}

impl<'a> SearchWorker<'a> {
    /// Creates the executor of a worker that holds these partitions.
    pub fn new(
        job: &'a RankJob<'a>,
        scans: HashMap<PartitionId, DatabaseScan<'a>>,
        shared: Arc<WorkerShared>,
    ) -> Self {
        SearchWorker { job, scans, passes: HashMap::new(), shared }
    }

    /// Returns a silent error if the job was halted, because the results are incomplete then.
    fn check_halt(&self) -> Result<(), Error> {
        match self.job.halt.is_set() {
            true => Err(Error::silent(exit::UNKNOWN)),
            false => Ok(()),
        }
    }

    fn open_pass(&mut self, pass: PassKey, queries: &Bytes) -> Result<(), Error> {
        let job = self.job;
        let prepared = job.decode_block(queries)?;
        let engine = job.engine_for(&prepared);
        let merger = engine.merger(&prepared.grouping);
        let mut searchers =
            engine.searchers(&prepared.prepared, &prepared.grouping, GroupDivision::Few).groups;
        let single = if searchers.len() == 1 { searchers.next() } else { None };
        let ready = single.map(|prepare| prepare());
        drop(searchers);
        let searched_pass =
            SearchedPass { block: prepared, merger, ready, aligned: HashMap::new() };
        self.passes.insert(pass, searched_pass);
        Ok(())
    }

    fn search(
        &mut self,
        pass: PassKey,
        partition: PartitionId,
        span: &mut Span,
    ) -> Result<WorkerOutcome<Bytes>, Error> {
        let searched_pass = self.passes.get(&pass).ok_or_else(|| unknown_block(pass.0))?;
        let scan = self.scans.get_mut(&partition).ok_or_else(|| unknown_block(pass.0))?;
        let before = scan.loader().statistics().read_bytes;
        let SearchedPass { block, merger, ready, .. } = searched_pass;
        let engine = self.job.engine_for(block);
        let searchers = engine.searchers(&block.prepared, &block.grouping, scan.division());
        let mut lists = match ready {
            Some(searcher) if searchers.groups.len() == 1 => {
                let groups = iter::once(|| &*searcher);
                scan.search(merger, Searchers { groups, one_thread_per_group: false })?
            }
            _ => scan.search(merger, searchers)?,
        };
        span.arg("loaded_bytes", scan.loader().statistics().read_bytes - before);
        let cut = lock(&self.shared.cuts).get(&pass).cloned();
        let cut: WorstKeptHits =
            cut.map_or_else(|| Ok(WorstKeptHits::default()), |cut| decode(&cut))?;
        merger.prune(&mut lists, &cut);
        span.arg("queries", block.prepared.len() as u64);
        span.arg("residues", block.residues());
        span.arg("hits", lists.len() as u64);
        Ok(WorkerOutcome::Searched(encode(&lists)?))
    }

    fn answer(
        &mut self,
        pass: PassKey,
        parts: &[(PartitionId, Bytes)],
        budget: u64,
        span: &mut Span,
    ) -> Result<WorkerOutcome<Bytes>, Error> {
        let mut answers = Vec::with_capacity(parts.len());
        let mut kept = 0;
        for (partition, question) in parts {
            let answer = match decode(question)? {
                Question::Align(wanted) => {
                    span.add("hits", wanted.len() as u64);
                    self.align(pass, *partition, &wanted)?
                }
                Question::Describe(chosen) => {
                    span.set_kind(Kind::Describe);
                    span.add("hits", chosen.len() as u64);
                    let searched_pass =
                        self.passes.get(&pass).ok_or_else(|| unknown_block(pass.0))?;
                    let describe =
                        |chosen| searched_pass.reported_subject(self.job, chosen)?.describe();
                    let rows: Result<_, _> = chosen.par_iter().map(describe).collect();
                    Answer::Described(rows?)
                }
                Question::SendAlignments(chosen) => {
                    span.set_kind(Kind::Send);
                    span.add("hits", chosen.len() as u64);
                    let searched_pass =
                        self.passes.get(&pass).ok_or_else(|| unknown_block(pass.0))?;
                    let alignments =
                        |chosen| Ok(searched_pass.reported_subject(self.job, chosen)?.hit);
                    let hits: Result<_, Error> = chosen.iter().map(alignments).collect();
                    Answer::Alignments(hits?)
                }
                Question::SendAlignedLetters(chosen) => {
                    span.set_kind(Kind::Send);
                    span.add("hits", chosen.len() as u64);
                    let searched_pass =
                        self.passes.get(&pass).ok_or_else(|| unknown_block(pass.0))?;
                    let lay = |chosen| {
                        searched_pass.reported_subject(self.job, chosen)?.aligned_letters()
                    };
                    let laid: Result<_, Error> = chosen.par_iter().map(lay).collect();
                    Answer::AlignedLetters(laid?)
                }
                Question::Format { chosen, wants_description_rows } => {
                    span.set_kind(Kind::Format);
                    span.add("hits", chosen.len() as u64);
                    let place = (pass, *partition);
                    let (answer, more) =
                        self.format(place, &chosen, wants_description_rows, budget - kept)?;
                    kept += more;
                    match &answer {
                        Answer::Formatted { sizes, .. } => span.add("bytes", sizes.iter().sum()),
                        Answer::Lines(lines) => {
                            let lengths = lines.iter().flatten().map(|line| line.length);
                            span.add("bytes", lengths.sum());
                        }
                        _ => {}
                    }
                    answer
                }
            };
            let scan = self.scans.get(partition).ok_or_else(|| unknown_block(pass.0))?;
            scan.check_unchanged()?;
            answers.push((*partition, answer));
        }
        Ok(WorkerOutcome::Answered { reply: encode(&answers)?, kept })
    }

    fn align(
        &mut self,
        pass: PassKey,
        partition: PartitionId,
        wanted: &[HitToAlign],
    ) -> Result<Answer, Error> {
        let searched_pass = self.passes.get_mut(&pass).ok_or_else(|| unknown_block(pass.0))?;
        let scan = self.scans.get(&partition).ok_or_else(|| unknown_block(pass.0))?;
        let mut outlines = Vec::with_capacity(wanted.len());
        for wanted in wanted.chunk_by(|a, b| a.query == b.query) {
            if self.job.halt.is_set() {
                break;
            }
            let number = wanted[0].query;
            searched_pass.query(number)?;
            let PreparedBlock { prepared, grouping, .. } = &searched_pass.block;
            let engine = self.job.engine_for(&searched_pass.block);
            let aligner = engine.aligner(prepared, grouping, number as usize);
            scan.check_files(wanted.iter().map(|wanted| wanted.hit.oid))?;
            let hits: Vec<_> = wanted.iter().map(|wanted| (&aligner, &wanted.hit)).collect();
            for candidate in scan.align(&hits)? {
                outlines.push(candidate.as_ref().map(CandidateHit::without_columns));
                if let Some(candidate) = candidate {
                    searched_pass.aligned.insert((number, candidate.oid), candidate);
                }
            }
        }
        Ok(Answer::Aligned(outlines))
    }

    /// Formats subjects of a partition, and also creates their rows of the description table if
    /// `described` is set. At most `budget` bytes of pieces stay in memory. Also returns the number
    /// of bytes that stay in memory.
    fn format(
        &self,
        (pass, partition): (PassKey, PartitionId),
        chosen: &[ReportedHit],
        described: bool,
        budget: u64,
    ) -> Result<(Answer, u64), Error> {
        let searched_pass = self.passes.get(&pass).ok_or_else(|| unknown_block(pass.0))?;
        let format = |chosen: &ReportedHit| {
            let shown = searched_pass.reported_subject(self.job, chosen)?;
            let row = described.then(|| shown.describe()).transpose()?;
            Ok((shown.format(chosen.rank)?, row))
        };
        let mut pieces = PieceKeeper { place: (pass, partition), budget, number: 0, bytes: 0 };
        let (mut rows, mut sizes, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        // Formats the subjects in portions, so that pieces for the spool do not accumulate in
        // memory.
        for chosen in chosen.chunks(PIECES_AT_A_TIME * rayon::current_num_threads()) {
            self.check_halt()?;
            let made: Result<Vec<_>, Error> = chosen.par_iter().map(format).collect();
            let mut store = lock(&self.shared.store);
            for (formatted, row) in made? {
                rows.extend(row);
                match formatted {
                    FormattedSubject::Piece(piece) => sizes.push(pieces.insert(&mut store, piece)?),
                    FormattedSubject::Lines(records) => {
                        let line = |SamRecord { key, line }| {
                            let length = pieces.insert(&mut store, line)?;
                            Ok(SamLine { key, length })
                        };
                        lines.push(records.into_iter().map(line).collect::<Result<_, Error>>()?);
                    }
                }
            }
        }
        let answer = match self.job.report.output.format {
            Format::Sam(_) => Answer::Lines(lines),
            _ => Answer::Formatted { rows, sizes },
        };
        Ok((answer, pieces.bytes))
    }
}

impl WorkerExecutor for SearchWorker<'_> {
    fn run(
        &mut self,
        work: WorkerWork<Bytes>,
        span: &mut Span,
    ) -> Result<WorkerOutcome<Bytes>, Error> {
        let outcome = match work {
            WorkerWork::Search { block, pass, partition, queries, cut } => {
                let pass = (block, pass);
                if let Some(cut) = cut {
                    self.shared.set_cut(pass, cut);
                }
                if let Some(queries) = queries {
                    self.open_pass(pass, &queries)?;
                }
                self.search(pass, partition, span)
            }
            WorkerWork::Answer { block, pass, parts, budget } => {
                self.answer((block, pass), &parts, budget, span)
            }
            _ => Err(Error::engine("the search threads received work of the output thread")),
        };
        self.check_halt()?;
        outcome
    }

    fn forget(&mut self, pass: PassKey) {
        self.passes.remove(&pass);
        lock(&self.shared.cuts).remove(&pass);
    }

    fn loading_costs(&self) -> LoadingCosts {
        self.scans.values().fold(LoadingCosts::default(), |sum, scan| {
            let read = scan.loader().statistics();
            let pages = scan.loader().page_kind().map_or("page cache", PageKind::name);
            LoadingCosts {
                pages: pages.to_owned(),
                bytes: sum.bytes + read.read_bytes,
                received: sum.received + read.received_bytes,
                seconds: sum.seconds + read.wall_time.as_secs_f64(),
                wait_seconds: sum.wait_seconds + scan.waiting.as_secs_f64(),
            }
        })
    }
}

/// Stores the pieces of an answer, and numbers them.
struct PieceKeeper {
    place: (PassKey, PartitionId),
    /// Bytes that may stay in memory.
    budget: u64,
    /// Number of the next piece.
    number: u32,
    /// Number of bytes kept in memory so far.
    bytes: u64,
}

impl PieceKeeper {
    /// Stores a piece. Returns its length.
    fn insert(&mut self, store: &mut PieceStore, piece: Vec<u8>) -> Result<u64, Error> {
        let ((block, pass), partition) = self.place;
        let (key, length) = ((block, pass, partition, self.number), piece.len() as u64);
        self.bytes += store.insert(key, piece, self.budget - self.bytes)?;
        self.number += 1;
        Ok(length)
    }
}

/// A subject in the format of the report.
enum FormattedSubject {
    Piece(Vec<u8>),
    /// Lines of SAM. They are sorted later, together with all lines of the query.
    Lines(Vec<SamRecord>),
}

/// Number of subjects that a thread formats before their pieces are stored.
const PIECES_AT_A_TIME: usize = 64;
/// Number of bytes that suffices for most subjects in a report.
const USUAL_PIECE: usize = 2048;

impl SearchedPass {
    fn query(&self, number: u32) -> Result<&fleetblast_engine::query::Query, Error> {
        self.block.prepared.get(number as usize).ok_or_else(|| Error::engine(UNKNOWN_HIT))
    }

    /// Returns a subject with the alignments that the report shows, in the order of the report.
    fn reported_subject<'b>(
        &'b self,
        job: &'b RankJob<'b>,
        chosen: &ReportedHit,
    ) -> Result<ShownSubject<'b>, Error> {
        let aligned = self.aligned.get(&(chosen.query, chosen.oid));
        let candidate = aligned.ok_or_else(|| Error::engine(UNKNOWN_HIT))?;
        let alignment = |&number: &u32| {
            let alignment = candidate.alignments.get(number as usize);
            alignment.cloned().ok_or_else(|| Error::engine(UNKNOWN_HIT))
        };
        let alignments = chosen.alignments.iter().map(alignment).collect::<Result<_, _>>()?;
        self.query(chosen.query)?;
        let result = self.block.query_result(chosen.query as usize, chosen.hit_count as usize);
        let hit = SubjectHit { oid: chosen.oid, alignments, joined: chosen.joined.clone() };
        Ok(ShownSubject { job, result, hit })
    }
}

/// A subject that the report shows.
struct ShownSubject<'a> {
    job: &'a RankJob<'a>,
    result: QueryResult<'a>,
    hit: SubjectHit,
}

impl ShownSubject<'_> {
    /// Returns the alignments, each with the letters of the subject in it.
    fn aligned_letters(self) -> Result<AlignedLetters, Error> {
        let (subjects, SubjectHit { oid, alignments, .. }) = (self.job.subjects, self.hit);
        let row = |alignment: Alignment| {
            let letters = subject_letters(subjects, oid, &alignment)?.into_owned();
            Ok((alignment, letters))
        };
        alignments.into_iter().map(row).collect()
    }

    fn describe(&self) -> Result<DescriptionRow, Error> {
        pieces::description_row(&self.job.report, &self.result, self.job.subjects, &self.hit)
            .map_err(|error| report_failure(&error))
    }

    fn format(&self, rank: u32) -> Result<FormattedSubject, Error> {
        let job = self.job;
        let made = match &job.report.output.format {
            Format::Sam(options) => {
                let (setup, query, hit) = (&job.report, &self.result, &self.hit);
                sam::subject_records(setup, options, query, job.subjects, hit)
                    .map(FormattedSubject::Lines)
            }
            _ => self.format_piece(rank).map(FormattedSubject::Piece),
        };
        made.map_err(|error| report_failure(&error))
    }

    fn format_piece(&self, rank: u32) -> Result<Vec<u8>, ReportError> {
        let (setup, subjects, rank) = (&self.job.report, self.job.subjects, rank as usize);
        let mut bytes = Vec::with_capacity(USUAL_PIECE);
        pieces::subject_block(setup, &self.result, subjects, &self.hit, rank, &mut bytes)?;
        // The piece may be stored for long, so it must not take more memory than its bytes.
        bytes.shrink_to_fit();
        Ok(bytes)
    }
}

/// Message for a question that does not fit the hits of this rank, a fault of the program.
const UNKNOWN_HIT: &str = "a rank was asked for a hit that it does not have";

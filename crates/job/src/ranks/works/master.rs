//! Executes the work of a master: merges preliminary hits, chooses hits, and lays out the output of
//! a block.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fleetblast_engine::hits::{PrelimHit, SubjectHit};
use fleetblast_engine::lists::{Cut, HitLists, Merger};
use fleetblast_fleet::ids::{BlockId, PartitionId, PassId};
use fleetblast_fleet::work::{MasterOutcome, MasterWork};
use fleetblast_report::pieces;
use fleetblast_report::table::DescriptionRow;

use super::OfMaster;
use super::laid::{Laid, Printed};
use super::pieces::Pieces;
use super::register::Register;
use super::rounds::{
    Asked, HitPlace, answers, ask, candidates, confused, inverse, packed, rows, select,
    sorted_by_rows, told, wanted, wanted_to_align,
};
use super::shared::lock;
use super::telling::{Telling, Told};
use crate::error::Error;
use crate::metadata::SearchCapacity;
use crate::queries::QueryRecord;
use crate::ranks::job::{Block, Job};
use crate::ranks::wire::{Bytes, Found, Question, Verdict, pack, unpack};
use crate::threads::pool;
use crate::trace::Recorder;

/// Executes the work of a master.
pub struct MasterWorks<'a> {
    job: &'a Job<'a>,
    /// Threads that prepare queries. The worker of the same rank has threads of its own, which may
    /// be searching for long.
    pool: rayon::ThreadPool,
    blocks: HashMap<BlockId, Merging>,
    /// Own pieces of blocks that are laid out, until they are fetched.
    pieces: Pieces,
    /// Where the names of queries are kept, if they are.
    register: Option<Arc<Mutex<Register>>>,
    /// Encodes blocks, if the report is made elsewhere.
    telling: Option<Telling<'a>>,
}

/// A block that is not laid out yet.
struct Merging {
    block: Block,
    merger: Merger,
    cut: Cut,
    stage: Stage,
    /// Number of reported queries: all, unless BLAST+ stops before.
    reported: usize,
    /// The prepared queries, if they may have to be searched again.
    again: Option<Bytes>,
}

/// The progress of a block.
enum Stage {
    /// Tasks are being searched.
    Search(HitLists),
    /// Workers align the chosen hits.
    Align { chosen: Vec<Vec<PrelimHit>>, asked: Asked, since: Instant },
    /// Workers create the rows of the description table.
    Describe { hits: Vec<Vec<SubjectHit>>, asked: Asked },
    /// Workers format the final hits.
    Format { printed: Printed, asked: Asked },
    /// Workers send all alignments of the final hits, because the report is made elsewhere.
    Tell {
        hits: Vec<Vec<SubjectHit>>,
        overflowed: Vec<bool>,
        asked: Asked,
        /// Duration of the alignments.
        traceback: Duration,
    },
}

impl<'a> MasterWorks<'a> {
    /// Creates the executor of a master. `capacity` describes all workers that search.
    ///
    /// Threads cannot be started.
    pub fn new(
        job: &'a Job<'a>,
        register: Option<Arc<Mutex<Register>>>,
        seekers: SearchCapacity,
        recorder: Recorder,
    ) -> Result<Self, Error> {
        let pool = pool(job.plan.threads.count)?;
        let (blocks, pieces) = Default::default();
        let telling = Telling::new(job, seekers, recorder);
        Ok(MasterWorks { job, pool, blocks, pieces, register, telling })
    }

    /// Prepares the queries of a block.
    fn prepare(&mut self, block: BlockId, queries: &Bytes) -> Result<MasterOutcome<Bytes>, Error> {
        let job = self.job;
        let queries = self.pool.install(|| job.prepare(queries))?;
        // The master decodes the same bytes as the workers, so that no rank can have other queries.
        let prepared = job.block(&queries)?;
        let merger = job.engine.merger(&prepared.grouping);
        let stage = Stage::Search(merger.empty_lists());
        let again = job.consults().then(|| queries.clone());
        let (reported, cut) = (prepared.prepared.len(), Cut::default());
        let merging = Merging { block: prepared, merger, cut, stage, reported, again };
        self.blocks.insert(block, merging);
        // A pass with wrong batches leaves no data, so all passes of a block have one number.
        Ok(MasterOutcome::Prepared { queries, pass: PassId(0) })
    }

    fn merging(&mut self, block: BlockId) -> Result<&mut Merging, Error> {
        self.blocks.get_mut(&block).ok_or_else(|| confused(block))
    }

    fn absorb(&mut self, block: BlockId, hits: &Bytes) -> Result<MasterOutcome<Bytes>, Error> {
        let part: HitLists = unpack(hits)?;
        let merging = self.merging(block)?;
        let Stage::Search(lists) = &mut merging.stage else { return Err(confused(block)) };
        if !merging.merger.fits(&part) {
            return Err(confused(block));
        }
        merging.merger.absorb(lists, part);
        let cut = merging.merger.cut(lists);
        if cut == merging.cut {
            return Ok(MasterOutcome::Absorbed { cut: None });
        }
        merging.cut = cut;
        Ok(MasterOutcome::Absorbed { cut: Some(pack(&merging.cut)?) })
    }

    /// Sends the statistics of a pass to the supermaster, which verifies its batches.
    fn consult(&mut self, block: BlockId) -> Result<MasterOutcome<Bytes>, Error> {
        let merging = self.merging(block)?;
        let Stage::Search(lists) = &merging.stage else { return Err(confused(block)) };
        let extensions = merging.merger.extensions(lists);
        let found = pack(&Found { extensions, strayed: lists.strayed })?;
        Ok(MasterOutcome::Verify { found })
    }

    /// Goes on with a block whose batches are correct, or begins another pass.
    fn judged(
        &mut self,
        (block, pass): (BlockId, PassId),
        verdict: &Bytes,
    ) -> Result<MasterOutcome<Bytes>, Error> {
        let together = match unpack(verdict)? {
            Verdict::Right => return self.round((block, pass), &[]),
            Verdict::Until(count) => {
                self.merging(block)?.reported = count as usize;
                return self.round((block, pass), &[]);
            }
            Verdict::Again(together) => together,
        };
        let job = self.job;
        let merging = self.merging(block)?;
        let known = merging.again.as_ref().ok_or_else(|| confused(block))?;
        let queries = job.regroup(known, together)?;
        merging.block = job.block(&queries)?;
        merging.merger = job.engine.merger(&merging.block.grouping);
        merging.cut = Cut::default();
        merging.stage = Stage::Search(merging.merger.empty_lists());
        Ok(MasterOutcome::NextPass { queries })
    }

    fn round(
        &mut self,
        (block, pass): (BlockId, PassId),
        replies: &[Bytes],
    ) -> Result<MasterOutcome<Bytes>, Error> {
        let mut answers = answers(replies)?;
        let mut merging = self.blocks.remove(&block).ok_or_else(|| confused(block))?;
        let job = self.job;
        let next = match merging.stage {
            Stage::Search(lists) => {
                let mut chosen = merging.merger.choose(lists);
                chosen.iter_mut().skip(merging.reported).for_each(Vec::clear);
                let asked = ask(job, &chosen, |hit| hit.oid);
                Stage::Align { chosen, asked, since: Instant::now() }
            }
            Stage::Align { chosen, asked, since } => {
                let traceback = since.elapsed();
                let candidates = candidates(block, &asked, &chosen, &mut answers)?;
                let (hits, overflowed) = select(job, &merging.block, &chosen, candidates);
                let asked = ask(job, &hits, |hit| hit.oid);
                if job.plan.metadata.is_some() {
                    Stage::Tell { hits, overflowed, asked, traceback }
                } else if pieces::has_table(&job.report) && sorted_by_rows(job) {
                    Stage::Describe { hits, asked }
                } else {
                    let orders = hits.iter().map(|hits| (0..hits.len()).collect()).collect();
                    Stage::Format { printed: Printed { hits, orders, rows: None }, asked }
                }
            }
            Stage::Describe { hits, asked } => {
                let rows = rows(block, &asked, &hits, &mut answers)?;
                let order = |rows: &Vec<DescriptionRow>| pieces::printing_order(&job.report, rows);
                let orders = rows.iter().map(order).collect();
                Stage::Format { printed: Printed { hits, orders, rows: Some(rows) }, asked }
            }
            Stage::Tell { hits, mut overflowed, asked, traceback } => {
                let mut hits = told(block, &asked, &hits, &mut answers)?;
                hits.truncate(merging.reported);
                overflowed.truncate(merging.reported);
                let (hits, overflowed) = (&hits[..], &overflowed[..]);
                let told = Told { id: block, block: &merging.block, hits, overflowed, traceback };
                let telling = self.telling.as_mut().ok_or_else(|| confused(block))?;
                let record = self.pool.install(|| telling.record(&told))?;
                let laid = Laid::of_one(record);
                self.pieces.keep(block, laid.pieces);
                return Ok(MasterOutcome::Layout(laid.extents));
            }
            Stage::Format { printed, asked } => {
                let mut printed = printed;
                // Queries that are not searched must not be reported as queries without hits.
                printed.hits.truncate(merging.reported);
                let place = (block, pass);
                let laid = Laid::new(job, place, &merging.block, printed, &asked, answers)?;
                if let Some(register) = &self.register {
                    let names = merging.block.records.iter().map(QueryRecord::names);
                    lock(register).keep_names(block, names.zip(laid.queries))?;
                }
                self.pieces.keep(block, laid.pieces);
                return Ok(MasterOutcome::Layout(laid.extents));
            }
        };
        merging.stage = next;
        let questions = merging.stage.questions(job)?;
        self.blocks.insert(block, merging);
        match questions.is_empty() {
            // Without questions, the next stage follows at once.
            true => self.round((block, pass), &[]),
            false => Ok(MasterOutcome::Ask(questions)),
        }
    }
}

impl OfMaster for MasterWorks<'_> {
    fn run(&mut self, work: MasterWork<Bytes>) -> Result<MasterOutcome<Bytes>, Error> {
        match work {
            MasterWork::Prepare { block, queries } => self.prepare(block, &queries),
            MasterWork::Absorb { block, hits, .. } => self.absorb(block, &hits),
            MasterWork::Round { block, round: 0, .. } if self.job.consults() => self.consult(block),
            MasterWork::Round { block, pass, replies, .. } => self.round((block, pass), &replies),
            MasterWork::Verified { block, pass, verdict } => self.judged((block, pass), &verdict),
            MasterWork::Gather { runs } => Ok(MasterOutcome::Gathered(self.pieces.gather(&runs)?)),
        }
    }

    fn forget(&mut self, block: BlockId) {
        self.pieces.forget(block);
    }
}

impl Stage {
    /// Encodes the questions of this stage.
    fn questions(&self, job: &Job) -> Result<Vec<(PartitionId, Bytes)>, Error> {
        match self {
            Stage::Search(_) => Ok(Vec::new()),
            Stage::Align { chosen, asked, .. } => wanted_to_align(asked, chosen),
            Stage::Describe { hits, asked } => packed(asked, |places| {
                let wanted = |&(query, at): &HitPlace| wanted(&hits[query], query, at, at + 1);
                Question::Describe(places.iter().map(wanted).collect())
            }),
            Stage::Tell { hits, asked, .. } => packed(asked, |places| {
                let wanted = |&(query, at): &HitPlace| wanted(&hits[query], query, at, at + 1);
                Question::Tell(places.iter().map(wanted).collect())
            }),
            Stage::Format { printed: Printed { hits, orders, rows }, asked } => {
                let ranks: Vec<Vec<usize>> = orders.iter().map(|order| inverse(order)).collect();
                let described = pieces::has_table(&job.report) && rows.is_none();
                packed(asked, |places| {
                    let wanted = |&(query, at): &HitPlace| {
                        wanted(&hits[query], query, at, ranks[query][at] + 1)
                    };
                    Question::Format { chosen: places.iter().map(wanted).collect(), described }
                })
            }
        }
    }
}

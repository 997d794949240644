//! The works of a master: merging preliminary hits, choosing, and laying the output of a block out.

use std::collections::{BTreeMap, HashMap};
use std::mem::take;

use fleetblast_engine::batches;
use fleetblast_engine::hits::{Candidate, PrelimHit, SubjectHit};
use fleetblast_engine::lists::{Cut, HitLists, Merger};
use fleetblast_fleet::ids::{BlockId, PartitionId, PassId};
use fleetblast_fleet::work::{Extent, MasterOutcome, MasterWork, Owner};
use fleetblast_report::pieces;
use fleetblast_report::table::DescriptionRow;

use super::pieces::Pieces;
use crate::error::Error;
use crate::ranks::job::{Block, Job};
use crate::ranks::wire::{Answer, Bytes, Chosen, Question, Wanted, pack, unpack};
use crate::reporting::failure;
use crate::threads::pool;

/// Answers of one round, by partition.
type Answers = BTreeMap<PartitionId, Answer>;
/// A question in the making: for each partition what is asked, and for each of these where the answer belongs.
type Asked = BTreeMap<PartitionId, Vec<Place>>;

/// A hit of a block: number of the query, and place in its list.
type Place = (usize, usize);

/// Carries out a master's works.
pub struct MasterWorks<'a> {
    job: &'a Job<'a>,
    /// Prepares queries. The worker of the same rank has threads of its own: it may be searching for long.
    pool: rayon::ThreadPool,
    blocks: HashMap<BlockId, State>,
    /// Own pieces of blocks that are laid out, until they are taken.
    pieces: Pieces,
}

/// A block that is not laid out yet.
struct State {
    block: Block,
    merger: Merger,
    cut: Cut,
    stage: Stage,
}

/// How far a block is.
enum Stage {
    /// Tasks are being searched.
    Search(HitLists),
    /// Chosen hits, which are being aligned.
    Align { chosen: Vec<Vec<PrelimHit>>, asked: Asked },
    /// Final hits, whose rows are being made.
    Describe { hits: Vec<Vec<SubjectHit>>, asked: Asked },
    /// Final hits, which are being formatted.
    Format { printed: Printed, asked: Asked },
}

/// What is printed, by query.
struct Printed {
    hits: Vec<Vec<SubjectHit>>,
    /// Places in the list of hits, by the order of printing.
    orders: Vec<Vec<usize>>,
    /// What the description table says of each hit, once that is known.
    rows: Option<Vec<Vec<DescriptionRow>>>,
}

impl<'a> MasterWorks<'a> {
    /// For a master of the job.
    ///
    /// # Errors
    /// Threads that cannot be started.
    pub fn new(job: &'a Job<'a>) -> Result<Self, Error> {
        let pool = pool(job.plan.threads)?;
        Ok(MasterWorks { job, pool, blocks: HashMap::new(), pieces: Pieces::default() })
    }

    /// Prepares a block's queries, and takes note of them.
    fn prepare(&mut self, block: BlockId, queries: &Bytes) -> Result<MasterOutcome<Bytes>, Error> {
        let job = self.job;
        let queries = self.pool.install(|| job.prepare(queries))?;
        // From what the workers get, and as they do: no rank can have other queries than the rest.
        let prepared = job.block(&queries)?;
        let merger = job.engine.merger(&prepared.prepared, &prepared.batches);
        let stage = Stage::Search(merger.empty_lists());
        let state = State { block: prepared, merger, cut: Cut::default(), stage };
        self.blocks.insert(block, state);
        // A protein query is searched in one pass.
        Ok(MasterOutcome::Prepared { queries, pass: PassId(0) })
    }

    /// Carries out a work.
    ///
    /// # Errors
    /// Bytes of another build of the program, or a report that cannot be made.
    pub fn run(&mut self, work: MasterWork<Bytes>) -> Result<MasterOutcome<Bytes>, Error> {
        match work {
            MasterWork::Prepare { block, queries } => self.prepare(block, &queries),
            MasterWork::Absorb { block, hits, .. } => self.absorb(block, &hits),
            MasterWork::Round { block, pass, replies, .. } => self.round((block, pass), &replies),
            MasterWork::Gather { runs } => Ok(MasterOutcome::Gathered(self.pieces.gather(&runs)?)),
        }
    }

    fn state(&mut self, block: BlockId) -> Result<&mut State, Error> {
        self.blocks.get_mut(&block).ok_or_else(|| confused(block))
    }

    fn absorb(&mut self, block: BlockId, hits: &Bytes) -> Result<MasterOutcome<Bytes>, Error> {
        let part: HitLists = unpack(hits)?;
        let state = self.state(block)?;
        let Stage::Search(lists) = &mut state.stage else { return Err(confused(block)) };
        if !state.merger.fits(&part) {
            return Err(confused(block));
        }
        state.merger.absorb(lists, part);
        let cut = state.merger.cut(lists);
        if cut == state.cut {
            return Ok(MasterOutcome::Absorbed { cut: None });
        }
        state.cut = cut;
        Ok(MasterOutcome::Absorbed { cut: Some(pack(&state.cut)?) })
    }

    fn round(
        &mut self,
        (block, pass): (BlockId, PassId),
        replies: &[Bytes],
    ) -> Result<MasterOutcome<Bytes>, Error> {
        let mut answers = Answers::new();
        for reply in replies {
            answers.extend(unpack::<Vec<(PartitionId, Answer)>>(reply)?);
        }
        let mut state = self.blocks.remove(&block).ok_or_else(|| confused(block))?;
        let job = self.job;
        let next = match state.stage {
            Stage::Search(lists) => {
                let chosen = state.merger.choose(lists);
                let asked = ask(job, &chosen, |hit| hit.oid);
                Stage::Align { chosen, asked }
            }
            Stage::Align { chosen, asked } => {
                let candidates = candidates(block, &asked, &chosen, &mut answers)?;
                let hits = select(job, &state.block, &chosen, candidates);
                let asked = ask(job, &hits, |hit| hit.oid);
                if pieces::has_table(&job.report) && sorted_by_rows(job) {
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
            Stage::Format { printed, asked } => {
                let laid = Laid::new(job, (block, pass), &state.block, printed, &asked, answers)?;
                self.pieces.keep(block, laid.pieces);
                return Ok(MasterOutcome::Layout(laid.extents));
            }
        };
        state.stage = next;
        let questions = state.stage.questions(job)?;
        self.blocks.insert(block, state);
        match questions.is_empty() {
            // Nothing to ask: on to what comes after the answers.
            true => self.round((block, pass), &[]),
            false => Ok(MasterOutcome::Ask(questions)),
        }
    }

    /// Drops what is kept of a block whose output stands in the file.
    pub fn forget(&mut self, block: BlockId) {
        self.pieces.forget(block);
    }
}

impl Stage {
    /// What to ask.
    fn questions(&self, job: &Job) -> Result<Vec<(PartitionId, Bytes)>, Error> {
        let packed = |asked: &Asked, question: &dyn Fn(&[Place]) -> Question| {
            let pack =
                |(&partition, places): (_, &Vec<Place>)| Ok((partition, pack(&question(places))?));
            asked.iter().map(pack).collect()
        };
        match self {
            Stage::Search(_) => Ok(Vec::new()),
            Stage::Align { chosen, asked } => packed(asked, &|places| {
                let wanted = |&(query, at): &Place| Wanted {
                    query: query as u32,
                    hit: chosen[query][at].clone(),
                };
                Question::Align(places.iter().map(wanted).collect())
            }),
            Stage::Describe { hits, asked } => packed(asked, &|places| {
                let wanted = |&(query, at): &Place| wanted(&hits[query], query, at, at + 1);
                Question::Describe(places.iter().map(wanted).collect())
            }),
            Stage::Format { printed: Printed { hits, orders, rows }, asked } => {
                let ranks: Vec<Vec<usize>> = orders.iter().map(|order| inverse(order)).collect();
                let described = pieces::has_table(&job.report) && rows.is_none();
                packed(asked, &|places| {
                    let wanted = |&(query, at): &Place| {
                        wanted(&hits[query], query, at, ranks[query][at] + 1)
                    };
                    Question::Format { chosen: places.iter().map(wanted).collect(), described }
                })
            }
        }
    }
}

/// Whether the order of printing depends on what the description table says.
fn sorted_by_rows(job: &Job) -> bool {
    job.report.output.hit_order.is_some()
}

fn wanted(hits: &[SubjectHit], query: usize, at: usize, rank: usize) -> Chosen {
    let hit = &hits[at];
    Chosen {
        query: query as u32,
        oid: hit.oid,
        rank: rank as u32,
        hit_count: hits.len() as u32,
        alignments: hit.alignments.iter().map(|alignment| alignment.number).collect(),
    }
}

/// Where each place went.
fn inverse(order: &[usize]) -> Vec<usize> {
    let mut ranks = vec![0; order.len()];
    for (rank, &place) in order.iter().enumerate() {
        ranks[place] = rank;
    }
    ranks
}

/// Sorts hits by the partitions that hold their subjects.
fn ask<T>(job: &Job, hits: &[Vec<T>], oid: impl Fn(&T) -> u32) -> Asked {
    let mut asked = Asked::new();
    for (query, hits) in hits.iter().enumerate() {
        for (at, hit) in hits.iter().enumerate() {
            asked.entry(job.partition_of(oid(hit))).or_default().push((query, at));
        }
    }
    asked
}

/// What was answered at each place, in the shape of `hits`; all questions of a round are of one kind.
fn matched<T, H>(
    block: BlockId,
    asked: &Asked,
    hits: &[Vec<H>],
    answers: &mut Answers,
    items: impl Fn(PartitionId, &mut Answer) -> Option<Vec<T>>,
) -> Result<Vec<Vec<T>>, Error> {
    let mut matched: Vec<Vec<Option<T>>> =
        hits.iter().map(|hits| hits.iter().map(|_| None).collect()).collect();
    for (&partition, places) in asked {
        let answer = answers.get_mut(&partition).and_then(|answer| items(partition, answer));
        let answer = answer.ok_or_else(|| confused(block))?;
        if answer.len() != places.len() {
            return Err(confused(block));
        }
        for (&(query, at), item) in places.iter().zip(answer) {
            matched[query][at] = Some(item);
        }
    }
    // Every place was asked about.
    let whole = |row: Vec<Option<T>>| row.into_iter().collect::<Option<_>>();
    matched.into_iter().map(whole).collect::<Option<_>>().ok_or_else(|| confused(block))
}

fn candidates(
    block: BlockId,
    asked: &Asked,
    chosen: &[Vec<PrelimHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<Option<Candidate>>>, Error> {
    matched(block, asked, chosen, answers, |_, answer| match answer {
        Answer::Aligned(candidates) => Some(take(candidates)),
        _ => None,
    })
}

/// The rows of each query's hits, as found.
fn rows(
    block: BlockId,
    asked: &Asked,
    hits: &[Vec<SubjectHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<DescriptionRow>>, Error> {
    matched(block, asked, hits, answers, |_, answer| match answer {
        Answer::Described(rows) | Answer::Formatted { rows, .. } => Some(take(rows)),
        Answer::Aligned(_) => None,
    })
}

/// Where each subject's formatted piece is.
fn pieces(
    block: BlockId,
    asked: &Asked,
    hits: &[Vec<SubjectHit>],
    answers: &mut Answers,
) -> Result<Vec<Vec<Piece>>, Error> {
    matched(block, asked, hits, answers, |partition, answer| match answer {
        Answer::Formatted { sizes, .. } => {
            let piece = |(number, &length)| Piece { partition, number, length };
            Some((0..).zip(sizes.iter()).map(piece).collect())
        }
        _ => None,
    })
}

/// A formatted subject.
#[derive(Clone, Copy)]
struct Piece {
    partition: PartitionId,
    /// Of its block and partition.
    number: u32,
    /// In bytes.
    length: u64,
}

/// The final hits of each query, from the outlines of their alignments, as BLAST+ would take one after the other.
fn select(
    job: &Job,
    block: &Block,
    chosen: &[Vec<PrelimHit>],
    candidates: Vec<Vec<Option<Candidate>>>,
) -> Vec<Vec<SubjectHit>> {
    let mut final_hits = Vec::with_capacity(chosen.len());
    let mut candidates = candidates.into_iter();
    for queries in batches::ranges(&block.batches) {
        let mut selector = job.engine.selector(&block.prepared[queries.clone()]);
        // Those that no definition line shows have none: BLAST+ drops them before it aligns them.
        let of_batch = candidates.by_ref().take(queries.len()).collect();
        selector.replay(&chosen[queries], of_batch);
        final_hits.extend(selector.finish());
    }
    final_hits
}

/// A block's output, laid out.
struct Laid {
    extents: Vec<Extent>,
    /// The master's pieces.
    pieces: Vec<Vec<u8>>,
    /// The one that is being written.
    piece: Vec<u8>,
}

impl Laid {
    fn new(
        job: &Job,
        (id, pass): (BlockId, PassId),
        block: &Block,
        Printed { hits, orders, rows: known }: Printed,
        asked: &Asked,
        mut answers: Answers,
    ) -> Result<Self, Error> {
        let pieces = pieces(id, asked, &hits, &mut answers)?;
        let rows = match known {
            Some(rows) => rows,
            None if pieces::has_table(&job.report) => rows(id, asked, &hits, &mut answers)?,
            None => vec![Vec::new(); hits.len()],
        };
        let mut laid = Laid { extents: Vec::new(), pieces: Vec::new(), piece: Vec::new() };
        for (query, hits) in hits.iter().enumerate() {
            let result = block.result(query, hits.len());
            if id == BlockId(0) && query == 0 {
                pieces::opening(&job.report, &result, &mut laid.piece)
                    .map_err(|error| failure(&error))?;
            }
            let printed: Vec<&DescriptionRow> =
                orders[query].iter().filter_map(|&place| rows[query].get(place)).collect();
            let alignments = hits.iter().map(|hit| hit.alignments.len()).sum();
            pieces::query_header(&job.report, &result, &printed, alignments, &mut laid.piece)
                .map_err(|error| failure(&error))?;
            for &place in &orders[query] {
                let Piece { partition, number, length } = pieces[query][place];
                laid.add(Owner::Partition(pass, partition), number, length);
            }
            pieces::query_footer(&job.report, &result, &mut laid.piece)
                .map_err(|error| failure(&error))?;
        }
        laid.close();
        Ok(laid)
    }

    /// Adds somebody else's piece.
    fn add(&mut self, owner: Owner, piece: u32, length: u64) {
        if length > 0 {
            self.close();
            self.extents.push(Extent { owner, piece, length });
        }
    }

    /// Ends the piece that is being written.
    fn close(&mut self) {
        if !self.piece.is_empty() {
            let (piece, length) = (self.pieces.len() as u32, self.piece.len() as u64);
            self.extents.push(Extent { owner: Owner::Master, piece, length });
            self.pieces.push(take(&mut self.piece));
        }
    }
}

/// Messages that do not fit together: a fault of the program.
fn confused(block: BlockId) -> Error {
    Error::engine(format_args!(
        "the ranks do not agree about query block {block}; all must run the same build of the program with the same \
         options, and find the same database"
    ))
}

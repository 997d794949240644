//! Checks the passes of a simulated run. Every task must be searched once, every pass must end
//! before the next begins, and no data of one pass may be used in another.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::ids::{BlockId, PartitionId, PassId, WorkerId};
use crate::sim::workload::Workload;
use crate::work::MasterOutcome;

use super::Checkpoint;

/// A task: its block, its pass and its partition.
pub type Task = (BlockId, PassId, PartitionId);

/// Progress of a block whose queries are prepared.
#[derive(Debug)]
struct Progress {
    first: PassId,
    /// The current pass.
    pass: PassId,
    /// Number of tasks of the current pass whose results are absorbed.
    absorbed: u32,
    /// Whether verification confirmed the current pass; `None` before a verification.
    is_confirmed: Option<bool>,
    laid_out: bool,
}

/// Records which worker searched and answered each task. Every function checks the event that it
/// notes. Its error describes the violation.
#[derive(Debug)]
pub struct Passes {
    workload: Workload,
    /// Checkpoint from which the run started.
    start: Checkpoint,
    /// Blocks that the run need not search, with the bytes of their output.
    finished: BTreeMap<BlockId, u64>,
    /// The next block to be verified.
    unverified: BlockId,
    blocks: HashMap<BlockId, Progress>,
    begun: HashSet<Task>,
    /// Task that each worker is searching.
    searching: HashMap<WorkerId, Task>,
    /// Worker that searched each task; only until the result is absorbed.
    searched: HashMap<Task, WorkerId>,
    /// Workers that have the queries of a pass.
    informed: HashSet<(BlockId, PassId, WorkerId)>,
    /// For each task, the worker that answered questions about it, and its last round.
    answered: HashMap<Task, (WorkerId, u32)>,
}

fn require(is_met: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if is_met { Ok(()) } else { Err(what()) }
}

impl Passes {
    /// Starts the record of a run that resumes from the checkpoint `start`.
    pub fn new(workload: Workload, start: Checkpoint) -> Passes {
        Passes {
            workload,
            finished: start.finished_blocks(),
            start,
            unverified: BlockId(0),
            blocks: HashMap::new(),
            begun: HashSet::new(),
            searching: HashMap::new(),
            searched: HashMap::new(),
            informed: HashSet::new(),
            answered: HashMap::new(),
        }
    }

    /// Returns the first pass of a block in this run.
    pub fn first_pass(&self, block: BlockId) -> PassId {
        self.blocks.get(&block).map_or(PassId(0), |progress| progress.first)
    }

    /// Returns the worker that answered questions about a task, and so has its pieces.
    pub fn answerer(&self, task: Task) -> Option<WorkerId> {
        self.answered.get(&task).map(|&(worker, _)| worker)
    }

    /// Returns the progress of a block, or an error if `pass` is not its current pass.
    fn progress(&mut self, block: BlockId, pass: PassId) -> Result<&mut Progress, String> {
        let progress = self.blocks.get_mut(&block);
        let Some(progress) = progress.filter(|known| known.pass == pass && !known.laid_out) else {
            return Err(format!("block {block}: pass {pass} is not under way"));
        };
        Ok(progress)
    }

    /// Notes that the master prepared a block's queries, for the pass `first`.
    pub fn prepare(&mut self, block: BlockId, first: PassId) -> Result<(), String> {
        let progress =
            Progress { first, pass: first, absorbed: 0, is_confirmed: None, laid_out: false };
        let again = self.blocks.insert(block, progress);
        let finished = self.finished.contains_key(&block);
        require(again.is_none() && !finished && first == self.start.first_pass(block), || {
            format!(
                "block {block}: prepared for pass {first}; before: {again:?}, finished: {finished}"
            )
        })
    }

    /// Notes that a worker begins to search a task. `queries` and `cut` are the passes to which the
    /// queries and the cut of the work belong.
    pub fn begin(
        &mut self,
        worker: WorkerId,
        task: Task,
        queries: Option<PassId>,
        cut: Option<PassId>,
    ) -> Result<(), String> {
        let (block, pass, partition) = task;
        self.progress(block, pass)?;
        require(self.begun.insert(task), || {
            format!("block {block}, pass {pass} × partition {partition}: searched twice")
        })?;
        let idle = self.searching.insert(worker, task).is_none();
        let known = self.informed.contains(&(block, pass, worker));
        let has_queries = queries.is_some_and(|of| of == pass);
        self.informed.insert((block, pass, worker));
        require(idle && known != has_queries && queries.is_none_or(|of| of == pass), || {
            format!(
                "worker {worker} searches block {block} in pass {pass} with the queries of \
                 {queries:?}; it had them: {known}; it was idle: {idle}"
            )
        })?;
        require(cut.is_none_or(|of| of == pass), || {
            format!("worker {worker} cuts block {block} in pass {pass} with the cut of {cut:?}")
        })
    }

    /// Notes that the running search of a worker receives a cut, which belongs to the pass `of`.
    pub fn raise_cut(
        &self,
        worker: WorkerId,
        (block, pass): (BlockId, PassId),
        of: PassId,
    ) -> Result<(), String> {
        let searching = self.searching.get(&worker);
        let same = searching.is_some_and(|&(under_way, now, _)| (under_way, now) == (block, pass));
        require(same && of == pass, || {
            format!(
                "worker {worker} searches {searching:?} and is told of the cut of block {block}, \
                 pass {of}, as that of pass {pass}"
            )
        })
    }

    /// Notes that a worker has searched a task.
    pub fn search(&mut self, worker: WorkerId, task: Task) -> Result<(), String> {
        let under_way = self.searching.remove(&worker);
        self.searched.insert(task, worker);
        require(under_way == Some(task), || {
            format!("worker {worker} has searched {task:?}, but began {under_way:?}")
        })
    }

    /// Notes that the master absorbed the hits of a task, which belong to the pass `of`.
    pub fn absorb(&mut self, task: Task, of: PassId) -> Result<(), String> {
        let (block, pass, partition) = task;
        let searched = self.searched.remove(&task).is_some();
        self.progress(block, pass)?.absorbed += 1;
        require(searched && of == pass, || {
            format!(
                "block {block}, pass {pass} × partition {partition}: absorbed hits of pass {of}; \
                 searched: {searched}"
            )
        })
    }

    /// Notes that a round of a pass begins. `replies` has the pass and the round of each reply.
    pub fn round(
        &mut self,
        (block, pass): (BlockId, PassId),
        round: u32,
        replies: impl Iterator<Item = (PassId, u32)>,
    ) -> Result<(), String> {
        let absorbed = self.is_absorbed(block, pass, &format!("round {round}"))?;
        require(round == 0 || absorbed.is_confirmed != Some(false), || {
            format!("block {block}, pass {pass}: round {round} of a wrong pass")
        })?;
        for (of, answered) in replies {
            require(of == pass && answered + 1 == round, || {
                format!(
                    "block {block}: round {round} of pass {pass} has a reply of round {answered} \
                     of pass {of}"
                )
            })?;
        }
        Ok(())
    }

    /// Returns the progress of a block, or an error if some results of the pass are not absorbed.
    fn is_absorbed(
        &mut self,
        block: BlockId,
        pass: PassId,
        what: &str,
    ) -> Result<&mut Progress, String> {
        let partitions = self.workload.partitions();
        let progress = self.progress(block, pass)?;
        let absorbed = progress.absorbed;
        require(absorbed == partitions, || {
            format!("block {block}, pass {pass}: {what} with {absorbed} results of {partitions}")
        })?;
        Ok(progress)
    }

    /// Notes that the supermaster verifies a pass. The results belong to the pass `of`. All earlier
    /// blocks must be confirmed.
    pub fn verify(
        &mut self,
        (block, pass): (BlockId, PassId),
        of: PassId,
        is_confirmed: bool,
    ) -> Result<(), String> {
        while self.finished.contains_key(&self.unverified) {
            self.unverified = self.unverified.next();
        }
        let next = self.unverified;
        let before = self.is_absorbed(block, pass, "verified")?.is_confirmed.replace(is_confirmed);
        if is_confirmed {
            self.unverified = next.next();
        }
        require(block == next && of == pass && before.is_none(), || {
            format!(
                "block {block}, pass {pass}: verified by what was found in pass {of}, when block {next} \
                 was next; before: {before:?}"
            )
        })
    }

    /// Notes that the master receives a verdict on a pass. The verdict belongs to the pass `of`.
    pub fn receive_verdict(
        &mut self,
        (block, pass): (BlockId, PassId),
        of: PassId,
    ) -> Result<(), String> {
        let verified = self.progress(block, pass)?.is_confirmed;
        require(of == pass && verified.is_some(), || {
            format!("block {block}, pass {pass}: a verdict of pass {of}; verified: {verified:?}")
        })
    }

    /// Notes the master's decision about the next step of a pass.
    pub fn decide<P>(
        &mut self,
        (block, pass): (BlockId, PassId),
        outcome: &MasterOutcome<P>,
    ) -> Result<(), String> {
        match outcome {
            MasterOutcome::NextPass { .. } => self.again(block, pass),
            MasterOutcome::Layout(_) => self.lay_out(block, pass),
            _ => Ok(()),
        }
    }

    /// Notes that a pass is over and that the block is searched again.
    fn again(&mut self, block: BlockId, pass: PassId) -> Result<(), String> {
        let progress = self.progress(block, pass)?;
        let is_confirmed = progress.is_confirmed.take();
        (progress.pass, progress.absorbed) = (pass.next(), 0);
        require(is_confirmed != Some(true), || {
            format!("block {block}: pass {pass} is right, but searched again")
        })
    }

    /// Notes that a pass is over and the block's output is laid out.
    fn lay_out(&mut self, block: BlockId, pass: PassId) -> Result<(), String> {
        let predicted = self.workload.is_predicted();
        let progress = self.progress(block, pass)?;
        progress.laid_out = true;
        let is_confirmed = progress.is_confirmed;
        require(is_confirmed == predicted.then_some(true), || {
            format!("block {block}: pass {pass} is laid out, which was verified: {is_confirmed:?}")
        })?;
        require(self.workload.is_last(block, pass), || {
            format!("block {block}: laid out after pass {pass}")
        })
    }

    /// Notes that a worker answers a round for a partition. The worker must have the queries of the
    /// pass, and its data of the earlier rounds.
    pub fn answer(&mut self, worker: WorkerId, task: Task, round: u32) -> Result<(), String> {
        let (block, pass, partition) = task;
        let informed = self.informed.contains(&(block, pass, worker));
        let before = self.answered.insert(task, (worker, round));
        let continued = match before {
            None => round == 0,
            Some((before, last)) => before == worker && last + 1 == round,
        };
        require(informed && continued, || {
            format!(
                "block {block}, pass {pass} × partition {partition}: worker {worker} answers round \
                 {round}; it searched some of the pass: {informed}; before: {before:?}"
            )
        })
    }

    /// Notes that a worker drops its data of a pass. The pass must be over.
    pub fn forget(&mut self, worker: WorkerId, block: BlockId, pass: PassId) -> Result<(), String> {
        let informed = self.informed.remove(&(block, pass, worker));
        let under_way = self.progress(block, pass).is_ok();
        require(informed && !under_way, || {
            format!(
                "worker {worker} forgets pass {pass} of block {block}; it had the queries: \
                 {informed}; the pass is under way: {under_way}"
            )
        })
    }

    /// Checks at the end of the job that the output of all searched blocks is laid out.
    pub fn check_complete(&self) -> Result<(), String> {
        let left = self.blocks.iter().find(|(_, progress)| !progress.laid_out);
        require(left.is_none(), || format!("the job ends before a block is laid out: {left:?}"))
    }
}

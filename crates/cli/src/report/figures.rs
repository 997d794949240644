//! What a timeline tells in figures.

use std::collections::BTreeMap;

use fleetblast_job::trace::{Kind, Lane, Slice, Timeline};

/// Steps in which use over time is counted.
pub const STEPS: usize = 240;

/// What the search threads do, as the page tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// Preliminary search.
    Search,
    /// Alignments.
    Align,
    /// Formatting, and writing together.
    Output,
    /// Opening what is searched.
    Load,
    /// Nothing.
    Idle,
}

impl Use {
    /// In the order in which they are drawn.
    pub const ALL: [Use; 5] = [Use::Search, Use::Align, Use::Output, Use::Load, Use::Idle];

    /// Of a work on the search threads.
    pub fn of(kind: Kind) -> Self {
        match kind {
            Kind::Search => Use::Search,
            Kind::Align => Use::Align,
            Kind::Load | Kind::Read | Kind::Prepare => Use::Load,
            Kind::Wait => Use::Idle,
            Kind::Describe | Kind::Format | Kind::Merge | Kind::Send | Kind::Write => Use::Output,
        }
    }

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Use::Search => "searching",
            Use::Align => "aligning",
            Use::Output => "formatting",
            Use::Load => "opening",
            Use::Idle => "idle",
        }
    }
}

/// A rank.
#[derive(Clone, Debug, Default)]
pub struct Rank {
    /// Seconds of the search threads by use; idle is all that is no other.
    pub uses: BTreeMap<Use, f64>,
    /// Seconds beside the search, by kind.
    pub beside: BTreeMap<Kind, f64>,
    /// Tasks searched.
    pub tasks: u64,
    /// When its search threads had their first work.
    pub first: f64,
    /// When they were through with the last.
    pub last: f64,
    /// Messages sent to other ranks.
    pub messages: u64,
}

/// What came of the output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Output {
    /// Bytes written.
    pub bytes: u64,
    /// Writes.
    pub writes: u64,
    /// Stretches of contiguous bytes in these.
    pub stretches: u64,
    /// Seconds of writing, in sum.
    pub seconds: f64,
    /// Ranks that wrote.
    pub writers: u64,
    /// Bytes sent to other ranks that wrote them.
    pub sent: u64,
    /// Most bytes of finished output that waited for an earlier block.
    pub waiting: u64,
}

/// All of a run.
pub struct Figures<'a> {
    /// The timeline.
    pub timeline: &'a Timeline,
    /// By their numbers.
    pub ranks: Vec<Rank>,
    /// Searches of a task, by what they took, longest first.
    pub tasks: Vec<&'a Slice>,
    /// Mean ranks at each use, for equal steps of time.
    pub steps: Vec<BTreeMap<Use, f64>>,
    /// The output.
    pub output: Output,
}

/// The end of a run: from when the first rank had nothing left to do.
#[derive(Clone, Copy, Debug)]
pub struct Tail {
    /// When it begins.
    pub start: f64,
    /// Share of all ranks' time that was lost in it.
    pub lost: f64,
}

impl<'a> Figures<'a> {
    /// Of a timeline.
    pub fn new(timeline: &'a Timeline) -> Self {
        let count = timeline.description.ranks as usize;
        let mut figures = Figures {
            timeline,
            ranks: vec![Rank::default(); count],
            tasks: timeline.of(Kind::Search).collect(),
            steps: vec![BTreeMap::new(); STEPS],
            output: Output::default(),
        };
        figures.tasks.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
        let mut writers = vec![false; count];
        for slice in &timeline.slices {
            figures.take(slice);
            if let (Kind::Write, Some(writer)) =
                (slice.kind, writers.get_mut(slice.track.rank as usize))
            {
                *writer |= slice.arg("bytes").is_some();
            }
        }
        figures.output.writers = writers.iter().filter(|&&writer| writer).count() as u64;
        for rank in &mut figures.ranks {
            let busy: f64 = rank.uses.values().sum();
            rank.uses.insert(Use::Idle, (timeline.end - busy).max(0.0));
        }
        figures.count();
        figures
    }

    fn take(&mut self, slice: &Slice) {
        let Some(rank) = self.ranks.get_mut(slice.track.rank as usize) else { return };
        match (slice.track.lane, slice.kind) {
            (Lane::Search, Kind::Wait) => {}
            (Lane::Search, kind) => {
                let of = Use::of(kind);
                *rank.uses.entry(of).or_default() += slice.seconds();
                if of != Use::Load {
                    rank.first = if rank.last == 0.0 { slice.start } else { rank.first };
                    rank.last = rank.last.max(slice.end);
                }
                rank.tasks += u64::from(kind == Kind::Search);
                self.step(slice, of);
            }
            (_, kind) => *rank.beside.entry(kind).or_default() += slice.seconds(),
        }
        let bytes = slice.arg("bytes").unwrap_or(0);
        match slice.kind {
            Kind::Write if bytes > 0 => {
                self.output.bytes += bytes;
                self.output.writes += 1;
                self.output.stretches += slice.arg("stretches").unwrap_or(1);
                self.output.seconds += slice.seconds();
            }
            Kind::Send => self.output.sent += bytes,
            _ => {}
        }
    }

    /// Adds a work to the use over time.
    fn step(&mut self, slice: &Slice, of: Use) {
        let width = self.timeline.end / STEPS as f64;
        let first = (slice.start / width) as usize;
        let last = ((slice.end / width) as usize).min(STEPS - 1);
        for step in first..=last {
            let (start, end) = (step as f64 * width, (step + 1) as f64 * width);
            let within = slice.end.min(end) - slice.start.max(start);
            *self.steps[step].entry(of).or_default() += within.max(0.0) / width;
        }
    }

    /// Takes the last values of counters.
    fn count(&mut self) {
        for (name, values) in &self.timeline.counters {
            let Some((rank, name)) = split(name) else { continue };
            let last = values.last().map_or(0, |&(_, value)| value as u64);
            let most = values.iter().map(|&(_, value)| value as u64).max().unwrap_or(0);
            match name {
                fleetblast_job::trace::MESSAGES => {
                    if let Some(rank) = self.ranks.get_mut(rank) {
                        rank.messages = last;
                    }
                }
                fleetblast_job::trace::WAITING_OUTPUT => self.output.waiting = most,
                _ => {}
            }
        }
    }

    /// Share of the time of all search threads.
    pub fn share(&self, of: Use) -> f64 {
        let seconds: f64 = self.ranks.iter().filter_map(|rank| rank.uses.get(&of)).sum();
        seconds / (self.ranks.len() as f64 * self.timeline.end).max(1e-9)
    }

    /// Share of it in which they worked.
    pub fn utilisation(&self) -> f64 {
        1.0 - self.share(Use::Idle)
    }

    /// Share that was lost before the first work.
    pub fn begin_lost(&self) -> f64 {
        let lost: f64 = self.ranks.iter().map(|rank| rank.first).sum();
        lost / (self.ranks.len() as f64 * self.timeline.end).max(1e-9)
    }

    /// The end.
    pub fn tail(&self) -> Tail {
        let end = self.timeline.end;
        let start = self.ranks.iter().map(|rank| rank.last).fold(end, f64::min);
        let lost: f64 = self.ranks.iter().map(|rank| end - rank.last).sum();
        Tail { start, lost: lost / (self.ranks.len() as f64 * end).max(1e-9) }
    }

    /// Cells that a task compares: residues of queries × those of the partition.
    pub fn cells(&self, task: &Slice) -> Option<f64> {
        let partition = task.arg("partition")? as usize;
        let subjects = *self.timeline.description.partition_residues.get(partition)?;
        Some(task.arg("residues")? as f64 * subjects as f64)
    }

    /// Below which time so large a share of the tasks is.
    pub fn task_seconds(&self, share: f64) -> f64 {
        let place = ((1.0 - share) * self.tasks.len() as f64) as usize;
        let task = self.tasks.get(place.min(self.tasks.len().saturating_sub(1)));
        task.map_or(0.0, |task| task.seconds())
    }
}

/// `rank 3 waiting tasks` into 3 and `waiting tasks`.
pub fn split(counter: &str) -> Option<(usize, &str)> {
    let (rank, name) = counter.strip_prefix("rank ")?.split_once(' ')?;
    Some((rank.parse().ok()?, name))
}

//! Figures computed from a timeline.

use std::collections::BTreeMap;

use fleetblast_job::trace::{Kind, Lane, Slice, Timeline};

/// Number of time steps in the plot of how threads are used.
pub const STEPS: usize = 240;

/// Uses of the search threads, as the page shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadUse {
    /// Preliminary search.
    Search,
    /// Traceback of alignments.
    Align,
    /// Formatting, and collective writes.
    Output,
    /// Opening the database.
    Load,
    /// No work.
    Idle,
}

impl ThreadUse {
    /// All uses, in the order in which they are drawn.
    pub const ALL: [ThreadUse; 5] =
        [ThreadUse::Search, ThreadUse::Align, ThreadUse::Output, ThreadUse::Load, ThreadUse::Idle];

    /// Returns the use for a slice of this kind on the search threads.
    pub fn from_kind(kind: Kind) -> Self {
        match kind {
            Kind::Search => ThreadUse::Search,
            Kind::Align => ThreadUse::Align,
            Kind::Load | Kind::Read | Kind::Prepare => ThreadUse::Load,
            Kind::Wait => ThreadUse::Idle,
            Kind::Describe | Kind::Format | Kind::Merge | Kind::Send | Kind::Write => {
                ThreadUse::Output
            }
        }
    }

    /// Returns the name of the use on the page.
    pub fn name(self) -> &'static str {
        match self {
            ThreadUse::Search => "searching",
            ThreadUse::Align => "aligning",
            ThreadUse::Output => "formatting",
            ThreadUse::Load => "opening",
            ThreadUse::Idle => "idle",
        }
    }
}

/// Figures of a rank.
#[derive(Clone, Debug, Default)]
pub struct RankFigures {
    /// Seconds of the search threads by use; the rest is idle.
    pub uses: BTreeMap<ThreadUse, f64>,
    /// Seconds outside the search threads, by kind of slice.
    pub seconds_outside_threads: BTreeMap<Kind, f64>,
    /// Number of tasks searched.
    pub tasks: u64,
    /// Time in seconds at which the rank's search threads began their first slice after loading.
    pub first: f64,
    /// Time in seconds at which the rank's search threads ended their last slice after loading.
    pub last: f64,
    /// Messages sent to other ranks.
    pub messages: u64,
}

/// Figures of the output.
#[derive(Clone, Copy, Debug, Default)]
pub struct OutputFigures {
    /// Bytes written.
    pub bytes: u64,
    /// Number of writes.
    pub writes: u64,
    /// Contiguous ranges of bytes in these writes.
    pub contiguous_ranges: u64,
    /// Sum of the seconds of all writes.
    pub seconds: f64,
    /// Number of ranks that wrote.
    pub writers: u64,
    /// Bytes sent to other ranks, which wrote them.
    pub sent: u64,
    /// Largest number of bytes of finished output that waited for an earlier block.
    pub waiting: u64,
}

/// All figures of a run.
pub struct Figures<'a> {
    /// The timeline.
    pub timeline: &'a Timeline,
    /// Figures of each rank, by its number.
    pub ranks: Vec<RankFigures>,
    /// Slices of tasks in the preliminary search, longest first.
    pub tasks: Vec<&'a Slice>,
    /// Mean number of ranks at each use, for equal steps of time.
    pub steps: Vec<BTreeMap<ThreadUse, f64>>,
    /// Figures of the output.
    pub output: OutputFigures,
}

/// The tail of a run: from the first rank without more work to the end.
#[derive(Clone, Copy, Debug)]
pub struct IdleTail {
    /// Start of the tail in seconds.
    pub start: f64,
    /// Idle time of all ranks in the tail, as a share of the time of all ranks in the run.
    pub lost: f64,
}

impl<'a> Figures<'a> {
    /// Computes the figures of a timeline.
    pub fn new(timeline: &'a Timeline) -> Self {
        let count = timeline.description.ranks as usize;
        let mut figures = Figures {
            timeline,
            ranks: vec![RankFigures::default(); count],
            tasks: timeline.slices_of(Kind::Search).collect(),
            steps: vec![BTreeMap::new(); STEPS],
            output: OutputFigures::default(),
        };
        figures.tasks.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
        let mut writers = vec![false; count];
        for slice in &timeline.slices {
            figures.add(slice);
            if let (Kind::Write, Some(writer)) =
                (slice.kind, writers.get_mut(slice.track.rank as usize))
            {
                *writer |= slice.arg("bytes").is_some();
            }
        }
        figures.output.writers = writers.iter().filter(|&&writer| writer).count() as u64;
        for rank in &mut figures.ranks {
            let busy: f64 = rank.uses.values().sum();
            rank.uses.insert(ThreadUse::Idle, (timeline.end - busy).max(0.0));
        }
        figures.count();
        figures
    }

    fn add(&mut self, slice: &Slice) {
        let Some(rank) = self.ranks.get_mut(slice.track.rank as usize) else { return };
        match (slice.track.lane, slice.kind) {
            (Lane::Search, Kind::Wait) => {}
            (Lane::Search, kind) => {
                let of = ThreadUse::from_kind(kind);
                *rank.uses.entry(of).or_default() += slice.seconds();
                if of != ThreadUse::Load {
                    rank.first = if rank.last == 0.0 { slice.start } else { rank.first };
                    rank.last = rank.last.max(slice.end);
                }
                rank.tasks += u64::from(kind == Kind::Search);
                self.step(slice, of);
            }
            (_, kind) => *rank.seconds_outside_threads.entry(kind).or_default() += slice.seconds(),
        }
        let bytes = slice.arg("bytes").unwrap_or(0);
        match slice.kind {
            Kind::Write if bytes > 0 => {
                self.output.bytes += bytes;
                self.output.writes += 1;
                self.output.contiguous_ranges += slice.arg("stretches").unwrap_or(1);
                self.output.seconds += slice.seconds();
            }
            Kind::Send => self.output.sent += bytes,
            _ => {}
        }
    }

    /// Adds a slice to `steps`, the use of the search threads over time.
    fn step(&mut self, slice: &Slice, of: ThreadUse) {
        let width = self.timeline.end / STEPS as f64;
        let first = (slice.start / width) as usize;
        let last = ((slice.end / width) as usize).min(STEPS - 1);
        for step in first..=last {
            let (start, end) = (step as f64 * width, (step + 1) as f64 * width);
            let within = slice.end.min(end) - slice.start.max(start);
            *self.steps[step].entry(of).or_default() += within.max(0.0) / width;
        }
    }

    /// Reads the figures that counters of the timeline have: messages, and waiting output.
    fn count(&mut self) {
        for (name, values) in &self.timeline.counters {
            let Some((rank, name)) = parse_counter_name(name) else { continue };
            let last = values.last().map_or(0, |&(_, value)| value as u64);
            let most = values.iter().map(|&(_, value)| value as u64).max().unwrap_or(0);
            match name {
                fleetblast_job::trace::MESSAGES => {
                    if let Some(rank) = self.ranks.get_mut(rank) {
                        rank.messages = last;
                    }
                }
                fleetblast_job::trace::WAITING_OUTPUT_BYTES => self.output.waiting = most,
                _ => {}
            }
        }
    }

    /// Returns a use's share of the time of all search threads.
    pub fn share(&self, of: ThreadUse) -> f64 {
        let seconds: f64 = self.ranks.iter().filter_map(|rank| rank.uses.get(&of)).sum();
        seconds / (self.ranks.len() as f64 * self.timeline.end).max(1e-9)
    }

    /// Returns the share of the search threads' time in which they worked.
    pub fn utilisation(&self) -> f64 {
        1.0 - self.share(ThreadUse::Idle)
    }

    /// Returns the share of the search threads' time lost before their first slices.
    pub fn start_loss(&self) -> f64 {
        let lost: f64 = self.ranks.iter().map(|rank| rank.first).sum();
        lost / (self.ranks.len() as f64 * self.timeline.end).max(1e-9)
    }

    /// Returns the tail of the run.
    pub fn tail(&self) -> IdleTail {
        let end = self.timeline.end;
        let start = self.ranks.iter().map(|rank| rank.last).fold(end, f64::min);
        let lost: f64 = self.ranks.iter().map(|rank| end - rank.last).sum();
        IdleTail { start, lost: lost / (self.ranks.len() as f64 * end).max(1e-9) }
    }

    /// Returns the cells that a task compares: residues of queries × residues of the partition.
    pub fn cells(&self, task: &Slice) -> Option<f64> {
        let partition = task.arg("partition")? as usize;
        let subjects = *self.timeline.description.partition_residues.get(partition)?;
        Some(task.arg("residues")? as f64 * subjects as f64)
    }

    /// Returns the quantile `share` of the tasks' times in seconds.
    pub fn task_seconds(&self, share: f64) -> f64 {
        let place = ((1.0 - share) * self.tasks.len() as f64) as usize;
        let task = self.tasks.get(place.min(self.tasks.len().saturating_sub(1)));
        task.map_or(0.0, |task| task.seconds())
    }
}

/// Splits the name of a counter: `rank 3 waiting tasks` into 3 and `waiting tasks`.
pub fn parse_counter_name(counter: &str) -> Option<(usize, &str)> {
    let (rank, name) = counter.strip_prefix("rank ")?.split_once(' ')?;
    Some((rank.parse().ok()?, name))
}

//! The output that a worker handles: windows that it collects and writes, and parts that it sends
//! to other workers.

use std::collections::{BTreeMap, VecDeque};

use crate::ids::{Address, BlockId, GroupId, WorkerId};
use crate::message::OutputRequest;
use crate::payload::Payload;
use crate::seams::{SplitRun, split_at_grains};
use crate::work::{OutputRun, PieceLocation, Slice, Window};

use super::memory::Memory;

/// Destination of the bytes of a portion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PortionDestination {
    /// The checkpoint. The number is the size of the block's whole output in bytes.
    Checkpoint(u64),
    /// The output file.
    OutputFile,
}

/// The part of a block's output that this worker stores or writes.
#[derive(Debug)]
struct Portion {
    key: PortionKey,
    /// Windows of the portion that are not opened yet.
    windows: VecDeque<PlannedWindow>,
}

/// A window that is not opened yet, so that it takes no memory.
#[derive(Debug)]
struct PlannedWindow {
    length: u64,
    runs: Vec<OutputRun>,
    /// Whether the worker hands the window over to the supermaster, which writes it.
    is_partial_grain: bool,
}

/// A window that takes memory: its bytes are being collected, or are complete.
#[derive(Debug)]
pub struct OpenWindow<P> {
    /// The bytes to write.
    pub window: Window<P>,
    /// Number of bytes.
    pub length: u64,
    /// Destination of the bytes.
    pub destination: PortionDestination,
    /// Whether the worker hands the window, which is one run, over to the supermaster.
    pub is_partial_grain: bool,
    /// Number of parts of other holders that have not arrived.
    missing: usize,
}

impl<P> OpenWindow<P> {
    /// Returns the key of the window's portion.
    pub fn key(&self) -> PortionKey {
        (self.window.block, self.destination)
    }
}

/// Identifies a portion.
pub type PortionKey = (BlockId, PortionDestination);

/// Portions that a worker must write, and requests of other workers that it must serve.
#[derive(Debug)]
pub struct WorkerOutput<P> {
    me: WorkerId,
    group: GroupId,
    /// Size of a grain in bytes, if the worker hands partial grains over; otherwise `None`.
    grain: Option<u64>,
    portions: VecDeque<Portion>,
    /// Number of windows of each portion that are not written yet.
    left: BTreeMap<PortionKey, usize>,
    /// Number of windows opened so far. It is the number of the next window.
    opened: u64,
    collecting: BTreeMap<u64, OpenWindow<P>>,
    complete: VecDeque<OpenWindow<P>>,
    /// Requests of other workers that this worker has not begun to serve.
    requests: VecDeque<(Address, OutputRequest)>,
}

impl<P: Payload> WorkerOutput<P> {
    /// Creates the output of worker `me`, with nothing to write or send.
    pub fn new(me: WorkerId, group: GroupId, grain: Option<u64>) -> WorkerOutput<P> {
        WorkerOutput {
            me,
            group,
            grain,
            portions: VecDeque::new(),
            left: BTreeMap::new(),
            opened: 0,
            collecting: BTreeMap::new(),
            complete: VecDeque::new(),
            requests: VecDeque::new(),
        }
    }

    /// Adds a portion and cuts it into windows of at most `buffer` bytes. A portion without bytes
    /// gets one empty window.
    pub fn add(&mut self, key: PortionKey, runs: Vec<OutputRun>, buffer: u64) {
        let mut windows = match (key.1, self.grain) {
            (PortionDestination::OutputFile, Some(grain)) => {
                with_partial_grains(runs, buffer, grain)
            }
            _ => plan_windows(runs, buffer, false).collect(),
        };
        if windows.is_empty() {
            windows.push_back(PlannedWindow {
                length: 0,
                runs: Vec::new(),
                is_partial_grain: false,
            });
        }
        self.left.insert(key, windows.len());
        self.portions.push_back(Portion { key, windows });
    }

    /// Opens windows as far as memory allows. Returns the requests to send, each with its receiver.
    pub fn open(&mut self, memory: &mut Memory) -> Vec<(Address, OutputRequest)> {
        let mut requests = Vec::new();
        while let Some(portion) = self.portions.front_mut() {
            let Some(&PlannedWindow { length, .. }) = portion.windows.front() else {
                self.portions.pop_front();
                continue;
            };
            if !memory.open_window(length) {
                break;
            }
            let PlannedWindow { runs, is_partial_grain, .. } =
                portion.windows.pop_front().expect("just seen");
            let ((block, destination), number) = (portion.key, self.opened);
            self.opened += 1;
            let before = requests.len();
            for (holder, slices) in by_other_holder(self.me, self.group, &runs) {
                requests.push((holder, OutputRequest { window: number, block, slices }));
            }
            let missing = requests.len() - before;
            let window = Window { block, runs, parts: Vec::with_capacity(missing) };
            let window = OpenWindow { window, length, destination, is_partial_grain, missing };
            if missing == 0 {
                self.complete.push_back(window);
            } else {
                self.collecting.insert(number, window);
            }
        }
        requests
    }

    /// Adds a part of window `number` that has arrived from another holder.
    pub fn receive(&mut self, from: Address, number: u64, bytes: P) {
        let Some(open) = self.collecting.get_mut(&number) else { return };
        open.window.parts.push((from, bytes));
        open.missing -= 1;
        if open.missing == 0 {
            self.complete.extend(self.collecting.remove(&number));
        }
    }

    /// Adds a request of another worker for bytes of this worker's pieces.
    pub fn request(&mut self, from: Address, fetch: OutputRequest) {
        self.requests.push_back((from, fetch));
    }

    /// Returns the next request to serve, with its receiver and its size in bytes, if there is
    /// memory for it.
    pub fn next_request(&mut self, memory: &mut Memory) -> Option<(Address, OutputRequest, u64)> {
        let (_, fetch) = self.requests.front()?;
        let length = fetch.slices.iter().map(|slice| slice.length).sum();
        if !memory.open_part(length) {
            return None;
        }
        self.requests.pop_front().map(|(to, fetch)| (to, fetch, length))
    }

    /// Returns the next window whose bytes are complete, and whether it is the last one of its
    /// portion.
    pub fn next_window(&mut self) -> Option<(OpenWindow<P>, bool)> {
        let open = self.complete.pop_front()?;
        let left = self.left.get(&open.key());
        Some((open, left == Some(&1)))
    }

    /// Notes that a window of a portion is written. Returns true if it completes the portion.
    pub fn record_written_window(&mut self, key: PortionKey) -> bool {
        let Some(left) = self.left.get_mut(&key) else { return false };
        *left -= 1;
        let done = *left == 0;
        if done {
            self.left.remove(&key);
        }
        done
    }
}

/// Returns the slices that holders other than worker `me` have, by holder.
fn by_other_holder(
    me: WorkerId,
    group: GroupId,
    runs: &[OutputRun],
) -> BTreeMap<Address, Vec<Slice>> {
    let mut holders: BTreeMap<Address, Vec<Slice>> = BTreeMap::new();
    for slice in runs.iter().flat_map(|run| &run.slices) {
        let holder = match slice.location {
            PieceLocation::Checkpoint => continue,
            PieceLocation::Worker(worker, ..) if worker == me => continue,
            PieceLocation::Worker(worker, ..) => Address::Worker(worker),
            PieceLocation::Master => Address::Master(group),
        };
        holders.entry(holder).or_default().push(*slice);
    }
    holders
}

/// Returns the windows that a worker writes itself, and the windows of partial grains that it hands
/// over.
fn with_partial_grains(runs: Vec<OutputRun>, buffer: u64, grain: u64) -> VecDeque<PlannedWindow> {
    let (mut all, mut own) = (VecDeque::new(), Vec::new());
    for run in runs {
        let SplitRun { inner, partial_grains } = split_at_grains(run, grain);
        own.extend(inner);
        for partial in partial_grains {
            all.extend(plan_windows(vec![partial], buffer, true));
        }
    }
    all.extend(plan_windows(own, buffer, false));
    all
}

fn plan_windows(
    runs: Vec<OutputRun>,
    buffer: u64,
    is_partial_grain: bool,
) -> impl Iterator<Item = PlannedWindow> {
    let windows = cut_into_windows(runs, buffer).into_iter();
    windows.map(move |(length, runs)| PlannedWindow { length, runs, is_partial_grain })
}

/// Cuts runs into windows of at most `buffer` bytes. Returns the size and the runs of each window.
pub fn cut_into_windows(runs: Vec<OutputRun>, buffer: u64) -> Vec<(u64, Vec<OutputRun>)> {
    let mut windows = Vec::new();
    let (mut current, mut filled) = (Vec::new(), 0);
    for run in runs {
        let mut piece = OutputRun { block: run.block, offset: run.offset, slices: Vec::new() };
        let mut offset = run.offset;
        for mut slice in run.slices {
            while slice.length > 0 {
                let length = slice.length.min(buffer - filled);
                piece.slices.push(Slice { length, ..slice });
                (slice.start, slice.length) = (slice.start + length, slice.length - length);
                (filled, offset) = (filled + length, offset + length);
                if filled == buffer {
                    let next = OutputRun { block: run.block, offset, slices: Vec::new() };
                    current.push(std::mem::replace(&mut piece, next));
                    windows.push((filled, std::mem::take(&mut current)));
                    filled = 0;
                }
            }
        }
        if !piece.slices.is_empty() {
            current.push(piece);
        }
    }
    if filled > 0 {
        windows.push((filled, current));
    }
    windows
}

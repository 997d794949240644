//! A worker's part in the output: windows that it collects and writes, and parts that it sends to
//! others.

use std::collections::{BTreeMap, VecDeque};

use crate::ids::{Address, BlockId, GroupId, WorkerId};
use crate::message::OutputRequest;
use crate::payload::Payload;
use crate::seams::{SplitRun, split_at_grains};
use crate::work::{Holder, Run, Slice, Window};

use super::memory::Memory;

/// Where the bytes of a portion go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// To the checkpoint; the block's whole output has this many bytes.
    Store(u64),
    /// To the output file.
    Place,
}

/// A portion of a block's output to write.
#[derive(Debug)]
struct Portion {
    key: PortionKey,
    /// Windows that are not opened yet.
    windows: VecDeque<Planned>,
}

/// A window that is not opened yet.
#[derive(Debug)]
struct Planned {
    length: u64,
    runs: Vec<Run>,
    /// Whether the supermaster writes it.
    is_partial_grain: bool,
}

/// An opened window: its bytes are being collected.
#[derive(Debug)]
pub struct OpenWindow<P> {
    /// The bytes to write.
    pub window: Window<P>,
    /// Number of bytes.
    pub length: u64,
    /// Destination of the bytes.
    pub purpose: Purpose,
    /// Whether it is one run, which the supermaster writes.
    pub is_partial_grain: bool,
    /// Number of parts that have not arrived.
    missing: usize,
}

impl<P> OpenWindow<P> {
    /// Returns the key of its portion.
    pub fn key(&self) -> PortionKey {
        (self.window.block, self.purpose)
    }
}

/// Identifies a portion.
pub type PortionKey = (BlockId, Purpose);

/// The bytes that a worker has to write and to send.
#[derive(Debug)]
pub struct WorkerOutput<P> {
    me: WorkerId,
    group: GroupId,
    /// Bytes of a grain, if partial grains are handed over.
    grain: Option<u64>,
    portions: VecDeque<Portion>,
    /// Number of windows not yet written.
    left: BTreeMap<PortionKey, usize>,
    /// Number of windows opened so far.
    opened: u64,
    collecting: BTreeMap<u64, OpenWindow<P>>,
    complete: VecDeque<OpenWindow<P>>,
    /// Waiting requests of others.
    requests: VecDeque<(Address, OutputRequest)>,
}

impl<P: Payload> WorkerOutput<P> {
    /// Starts without work.
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

    /// Adds a portion; one without bytes still has a window.
    pub fn add(&mut self, key: PortionKey, runs: Vec<Run>, buffer: u64) {
        let mut windows = match (key.1, self.grain) {
            (Purpose::Place, Some(grain)) => with_partial_grains(runs, buffer, grain),
            _ => planned(runs, buffer, false).collect(),
        };
        if windows.is_empty() {
            windows.push_back(Planned { length: 0, runs: Vec::new(), is_partial_grain: false });
        }
        self.left.insert(key, windows.len());
        self.portions.push_back(Portion { key, windows });
    }

    /// Opens windows as far as memory allows; returns the requests to send and their receivers.
    pub fn open(&mut self, memory: &mut Memory) -> Vec<(Address, OutputRequest)> {
        let mut requests = Vec::new();
        while let Some(portion) = self.portions.front_mut() {
            let Some(&Planned { length, .. }) = portion.windows.front() else {
                self.portions.pop_front();
                continue;
            };
            if !memory.open_window(length) {
                break;
            }
            let Planned { runs, is_partial_grain, .. } =
                portion.windows.pop_front().expect("just seen");
            let ((block, purpose), number) = (portion.key, self.opened);
            self.opened += 1;
            let before = requests.len();
            for (holder, slices) in by_other_holder(self.me, self.group, &runs) {
                requests.push((holder, OutputRequest { window: number, block, slices }));
            }
            let missing = requests.len() - before;
            let window = Window { block, runs, parts: Vec::with_capacity(missing) };
            let window = OpenWindow { window, length, purpose, is_partial_grain, missing };
            if missing == 0 {
                self.complete.push_back(window);
            } else {
                self.collecting.insert(number, window);
            }
        }
        requests
    }

    /// Adds a part that has arrived.
    pub fn receive(&mut self, from: Address, number: u64, bytes: P) {
        let Some(open) = self.collecting.get_mut(&number) else { return };
        open.window.parts.push((from, bytes));
        open.missing -= 1;
        if open.missing == 0 {
            self.complete.extend(self.collecting.remove(&number));
        }
    }

    /// Adds a request of another worker.
    pub fn request(&mut self, from: Address, fetch: OutputRequest) {
        self.requests.push_back((from, fetch));
    }

    /// Returns the next request to serve, with its number of bytes, if there is memory for it.
    pub fn next_request(&mut self, memory: &mut Memory) -> Option<(Address, OutputRequest, u64)> {
        let (_, fetch) = self.requests.front()?;
        let length = fetch.slices.iter().map(|slice| slice.length).sum();
        if !memory.open_part(length) {
            return None;
        }
        self.requests.pop_front().map(|(to, fetch)| (to, fetch, length))
    }

    /// Returns the next window to write, and whether it is the last of its portion.
    pub fn next_window(&mut self) -> Option<(OpenWindow<P>, bool)> {
        let open = self.complete.pop_front()?;
        let left = self.left.get(&open.key());
        Some((open, left == Some(&1)))
    }

    /// Notes that a window is written; returns true if its portion is done.
    pub fn written(&mut self, key: PortionKey) -> bool {
        let Some(left) = self.left.get_mut(&key) else { return false };
        *left -= 1;
        let done = *left == 0;
        if done {
            self.left.remove(&key);
        }
        done
    }
}

/// The slices that others than `me` hold, by holder.
fn by_other_holder(me: WorkerId, group: GroupId, runs: &[Run]) -> BTreeMap<Address, Vec<Slice>> {
    let mut holders: BTreeMap<Address, Vec<Slice>> = BTreeMap::new();
    for slice in runs.iter().flat_map(|run| &run.slices) {
        let holder = match slice.holder {
            Holder::Record => continue,
            Holder::Worker(worker, ..) if worker == me => continue,
            Holder::Worker(worker, ..) => Address::Worker(worker),
            Holder::Master => Address::Master(group),
        };
        holders.entry(holder).or_default().push(*slice);
    }
    holders
}

/// The windows that a worker writes, and one window for each partial grain that it hands over.
fn with_partial_grains(runs: Vec<Run>, buffer: u64, grain: u64) -> VecDeque<Planned> {
    let (mut all, mut own) = (VecDeque::new(), Vec::new());
    for run in runs {
        let SplitRun { inner, partial_grains } = split_at_grains(run, grain);
        own.extend(inner);
        for partial in partial_grains {
            all.extend(planned(vec![partial], buffer, true));
        }
    }
    all.extend(planned(own, buffer, false));
    all
}

fn planned(runs: Vec<Run>, buffer: u64, is_partial_grain: bool) -> impl Iterator<Item = Planned> {
    let windows = cut_into_windows(runs, buffer).into_iter();
    windows.map(move |(length, runs)| Planned { length, runs, is_partial_grain })
}

/// Cuts runs into windows of at most `buffer` bytes, each with its length.
pub fn cut_into_windows(runs: Vec<Run>, buffer: u64) -> Vec<(u64, Vec<Run>)> {
    let mut windows = Vec::new();
    let (mut current, mut filled) = (Vec::new(), 0);
    for run in runs {
        let mut piece = Run { block: run.block, offset: run.offset, slices: Vec::new() };
        let mut offset = run.offset;
        for mut slice in run.slices {
            while slice.length > 0 {
                let length = slice.length.min(buffer - filled);
                piece.slices.push(Slice { length, ..slice });
                (slice.start, slice.length) = (slice.start + length, slice.length - length);
                (filled, offset) = (filled + length, offset + length);
                if filled == buffer {
                    let next = Run { block: run.block, offset, slices: Vec::new() };
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

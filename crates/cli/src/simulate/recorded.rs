//! The workload recorded in a trace: time and output of each task.

use std::collections::{BTreeMap, HashMap};

use fleetblast_fleet::payload::Weight;
use fleetblast_fleet::sim::workload::{Trace, TraceBlock};
use fleetblast_job::trace::{Kind, Lane, Slice, Timeline};

/// Builds the workload from a trace, with the time of each slice as if its rank had its cores to
/// itself.
pub fn workload(timeline: &Timeline) -> Trace {
    let run = &timeline.description;
    let partitions = run.partition_residues.len();
    let alone = UnsharedTimes::new(timeline);
    // The rank that searched a task holds its hits.
    let mut searched: HashMap<(u32, u32), Vec<usize>> = HashMap::new();
    for task in timeline.slices_of(Kind::Search) {
        if let (Some(block), Some(partition)) =
            (number_argument(task, "block"), number_argument(task, "partition"))
        {
            searched.entry((task.track.rank, block)).or_default().push(partition as usize);
        }
    }
    let mut blocks: BTreeMap<u32, TraceBlock> = BTreeMap::new();
    for slice in &timeline.slices {
        let Some(number) = number_argument(slice, "block") else { continue };
        let block = blocks.entry(number).or_insert_with(|| TraceBlock {
            search_seconds: vec![0.0; partitions],
            answer_seconds: vec![0.0; partitions],
            hit_bytes: vec![0; partitions],
            piece_bytes: vec![0; partitions],
            ..TraceBlock::default()
        });
        let own = searched.get(&(slice.track.rank, number)).map_or(&[][..], Vec::as_slice);
        add(block, slice, own, alone.seconds(slice));
    }
    let is_searched =
        |block: &TraceBlock| block.search_seconds.iter().any(|&seconds| seconds > 0.0);
    let mut blocks: Vec<TraceBlock> = blocks.into_values().filter(is_searched).collect();
    for block in &mut blocks {
        // Until here, `master_bytes` has all of the block's output.
        block.master_bytes = block.master_bytes.saturating_sub(block.piece_bytes.iter().sum());
    }
    // A sorted table needs an additional round of messages for its rows.
    let rounds = if timeline.slices_of(Kind::Describe).next().is_some() { 3 } else { 2 };
    Trace { threads: run.threads, rounds, blocks }
}

fn number_argument(slice: &Slice, name: &str) -> Option<u32> {
    slice.arg(name).map(|number| number as u32)
}

/// Adds a slice to its block; `own` are the block's partitions that the rank searched.
fn add(block: &mut TraceBlock, slice: &Slice, own: &[usize], seconds: f64) {
    let bytes = slice.arg("bytes").unwrap_or(0);
    match slice.kind {
        Kind::Read => {
            block.weight = Weight {
                sequences: slice.arg("queries").unwrap_or(0),
                residues: slice.arg("residues").unwrap_or(0),
            };
            block.query_bytes = bytes;
            block.read_seconds = seconds;
        }
        Kind::Prepare => block.prepare_seconds = seconds,
        Kind::Search => {
            let partition = slice.arg("partition").unwrap_or(0) as usize;
            if let Some(place) = block.search_seconds.get_mut(partition) {
                *place = seconds;
                block.hit_bytes[partition] = bytes;
            }
        }
        Kind::Align | Kind::Describe | Kind::Format => {
            let share = own.len().max(1);
            for &partition in own {
                if let Some(place) = block.answer_seconds.get_mut(partition) {
                    *place += seconds / share as f64;
                    block.piece_bytes[partition] += bytes / share as u64;
                }
            }
        }
        Kind::Merge => {
            block.master_seconds += seconds;
            // Only the round that lays out the output counts its bytes.
            if slice.arg("round").is_some() {
                block.master_bytes += bytes;
            }
        }
        Kind::Load | Kind::Send | Kind::Write | Kind::Wait => {}
    }
}

/// Estimates of the times of slices, as if ranks did not share cores.
struct UnsharedTimes {
    ranks_per_host: u32,
    /// For each host: pairs of a time in seconds, and the core seconds of a slice that runs from
    /// the start to this time.
    had: Vec<Vec<(f64, f64)>>,
}

impl UnsharedTimes {
    fn new(timeline: &Timeline) -> Self {
        let run = &timeline.description;
        let hosts = run.hosts.max(1);
        let ranks_per_host = run.ranks.div_ceil(hosts).max(1);
        let at_once = f64::from(run.cores.max(1)) / f64::from(run.threads.max(1));
        let mut changes: Vec<Vec<(f64, f64)>> = vec![Vec::new(); hosts as usize];
        for slice in timeline.slices.iter().filter(|slice| on_threads(slice)) {
            let host = (slice.track.rank / ranks_per_host) as usize;
            if let Some(changes) = changes.get_mut(host) {
                changes.extend([(slice.start, 1.0), (slice.end, -1.0)]);
            }
        }
        let had = |mut changes: Vec<(f64, f64)>| {
            changes.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (mut had, mut time, mut seconds, mut works) = (vec![(0.0, 0.0)], 0.0, 0.0, 0.0_f64);
            for (when, change) in changes {
                seconds += (when - time) * (at_once / works.max(1.0)).min(1.0);
                (time, works) = (when, works + change);
                had.push((time, seconds));
            }
            had
        };
        UnsharedTimes { ranks_per_host, had: changes.into_iter().map(had).collect() }
    }

    fn seconds(&self, slice: &Slice) -> f64 {
        let had = self.had.get((slice.track.rank / self.ranks_per_host) as usize);
        let (Some(had), true) = (had, on_threads(slice)) else { return slice.seconds() };
        let until = |time: f64| {
            let place = had.partition_point(|&(when, _)| when < time);
            had.get(place).or(had.last()).map_or(0.0, |&(_, seconds)| seconds)
        };
        until(slice.end) - until(slice.start)
    }
}

/// Returns whether a slice uses the search threads.
fn on_threads(slice: &Slice) -> bool {
    slice.track.lane == Lane::Search && !matches!(slice.kind, Kind::Wait | Kind::Load)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ranks that share a core, each with one task; the second begins when half of the first is
    /// done.
    const TRACE: &str = r#"{"otherData":{"made_by":"","ranks":2,"threads":1,"cores":1,"one_process":true,"hosts":1,
        "groups":1,"replicas":1,"partition_residues":[100,300],"output":"merge","schedule":"dynamic","database":"",
        "queries":2,"query_residues":20,"wall_seconds":4.0},"traceEvents":[
        {"ph":"M","pid":1,"tid":0,"ts":0,"name":"thread_name","args":{"name":"rank 0 search"}},
        {"ph":"X","pid":1,"tid":3,"ts":7000000,"dur":1000,"name":"","cat":"read",
            "args":{"block":0,"queries":2,"residues":20,"bytes":50}},
        {"ph":"X","pid":1,"tid":0,"ts":8000000,"dur":2000000,"name":"","cat":"search",
            "args":{"block":0,"partition":0,"bytes":7}},
        {"ph":"X","pid":1,"tid":4,"ts":9000000,"dur":3000000,"name":"","cat":"search",
            "args":{"block":0,"partition":1,"bytes":8}},
        {"ph":"X","pid":1,"tid":4,"ts":12000000,"dur":500000,"name":"","cat":"format",
            "args":{"block":0,"bytes":90}},
        {"ph":"X","pid":1,"tid":2,"ts":12600000,"dur":1000,"name":"","cat":"merge",
            "args":{"block":0,"round":2,"bytes":100}}]}"#;

    #[test]
    fn works_take_what_they_would_alone() {
        let trace = workload(&Timeline::parse(TRACE.as_bytes()).unwrap());
        let [block] = &trace.blocks[..] else { panic!("one block was searched") };
        // From 9 s to 10 s both had half of the core.
        assert_eq!(block.search_seconds, [1.5, 2.5]);
        assert_eq!(block.answer_seconds, [0.0, 0.5]);
        assert_eq!((&block.hit_bytes[..], &block.piece_bytes[..]), (&[7, 8][..], &[0, 90][..]));
        assert_eq!((block.master_bytes, block.query_bytes, block.weight.residues), (10, 50, 20));
    }
}

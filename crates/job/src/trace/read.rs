//! Reads the files of traces.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufReader};
use std::path::Path;

use serde_json::{Map, Value};

use super::{Description, Event, File, Kind, Track};
use crate::error::{Error, exit};

/// The activities of all ranks. Times are in seconds since the first event.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Description of the search.
    pub description: Description,
    /// Activities and waits, sorted by track and start.
    pub slices: Vec<Slice>,
    /// Values of each counter over time, as pairs of time and value, by name. Names begin with the
    /// rank.
    pub counters: BTreeMap<String, Vec<(f64, f64)>>,
    /// End of the last slice, in seconds.
    pub end: f64,
}

/// An activity or a wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Slice {
    /// Track of the activity.
    pub track: Track,
    /// Kind of the activity.
    pub kind: Kind,
    /// Start of the activity, in seconds.
    pub start: f64,
    /// End of the activity, in seconds.
    pub end: f64,
    args: Map<String, Value>,
}

impl Slice {
    /// Returns the duration in seconds.
    pub fn seconds(&self) -> f64 {
        self.end - self.start
    }

    /// Returns the argument of the activity with this name, such as `block`; `None` if it has none.
    pub fn arg(&self, name: &str) -> Option<u64> {
        self.args.get(name).and_then(Value::as_u64)
    }
}

impl Timeline {
    /// Reads a trace.
    ///
    /// # Errors
    /// A file that cannot be read, or is no trace of FleetBLAST.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let failed = |what: &dyn std::fmt::Display| {
            Error::new(exit::INPUT, format!("Error: {}: {what}", path.display()))
        };
        let file = fs::File::open(path).map_err(|error| failed(&error))?;
        let timeline = Timeline::parse(BufReader::new(file)).map_err(|error| {
            failed(&format_args!("not a trace of a fleetblast search ({error})"))
        })?;
        let run = &timeline.description;
        if run.ranks == 0 || run.partition_residues.is_empty() {
            return Err(failed(&"a trace without ranks or without partitions"));
        }
        Ok(timeline)
    }

    /// Parses a trace.
    ///
    /// # Errors
    /// Data that are no trace of FleetBLAST.
    pub fn parse(trace: impl io::Read) -> Result<Self, serde_json::Error> {
        serde_json::from_reader(trace).map(Timeline::new)
    }

    fn new(File { other_data, trace_events }: File) -> Self {
        let timed = trace_events.iter().filter(|event| event.ph != "M");
        let origin = timed.map(|event| event.ts).min().unwrap_or(0);
        let seconds = |micros: u64| (micros - origin) as f64 * 1e-6;
        let mut timeline = Timeline { description: other_data, ..Timeline::default() };
        for Event { ph, tid, ts, dur, name, cat, args, .. } in trace_events {
            match (ph.as_str(), cat) {
                ("X", Some(kind)) => {
                    let (start, end) = (seconds(ts), seconds(ts + dur.unwrap_or(0)));
                    timeline.end = timeline.end.max(end);
                    timeline.slices.push(Slice {
                        track: Track::from_tid(tid),
                        kind,
                        start,
                        end,
                        args,
                    });
                }
                ("C", _) => {
                    let value = args.values().next().and_then(Value::as_f64).unwrap_or(0.0);
                    timeline.counters.entry(name).or_default().push((seconds(ts), value));
                }
                _ => {}
            }
        }
        timeline.slices.sort_by(|a, b| {
            (a.track, a.start).partial_cmp(&(b.track, b.start)).unwrap_or(std::cmp::Ordering::Equal)
        });
        timeline
    }

    /// Returns the slices of a kind.
    pub fn slices_of(&self, kind: Kind) -> impl Iterator<Item = &Slice> {
        self.slices.iter().filter(move |slice| slice.kind == kind)
    }
}

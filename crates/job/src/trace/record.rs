//! Records the activities of a rank while it works.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::join::create_part;
use super::{Event, Kind, Lane, MESSAGE_BYTES, MESSAGES, PROCESS, Track};
use crate::cost::EncodingCosts;

/// Minimum duration of a wait of the search threads that gets a slice.
const SHORT_WAIT: Duration = Duration::from_micros(100);
/// Minimum time between two recorded values of a counter.
const COUNTER_INTERVAL: Duration = Duration::from_millis(5);

/// Recorder of the activities of a rank. Clones share the recording. A recorder that is off does
/// nothing and reads no clock.
#[derive(Clone, Default)]
pub struct Recorder(Option<Arc<Inner>>);

struct Inner {
    rank: u32,
    start: Instant,
    /// Start in microseconds since 1970.
    epoch: u64,
    state: Mutex<Recording>,
}

struct Recording {
    sums: RankTotals,
    /// Time since which the search threads are idle; `None` while they work.
    idle_since: Option<Instant>,
    /// File of this rank's part of the trace; `None` without a trace, or after a write has failed.
    file: Option<BufWriter<File>>,
    failure: Option<io::Error>,
    named: Vec<Lane>,
    counters: BTreeMap<&'static str, Counter>,
}

/// The current value of a counter, and its last recorded value with the time.
struct Counter {
    value: u64,
    written: Option<(u64, Instant)>,
}

/// An activity in progress. It is recorded when the span is dropped, also after an error.
pub struct Span {
    recorder: Recorder,
    lane: Lane,
    kind: Kind,
    start: Option<Instant>,
    args: Map<String, Value>,
}

/// The loading of the database into the memory of a rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadingCosts {
    /// Kind of the memory pages.
    pub pages: String,
    /// Bytes read from files.
    pub bytes: u64,
    /// Bytes received from ranks that read them.
    pub received: u64,
    /// Wall time of reading, concurrently with the search.
    pub seconds: f64,
    /// Time that searching threads waited for the database, in total.
    pub wait_seconds: f64,
}

/// Totals of a rank's activities.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankTotals {
    /// Wall time of activities by kind, in seconds. Activities of different lanes may overlap.
    pub seconds: BTreeMap<Kind, f64>,
    /// Seconds from the start to the end of the recording.
    pub wall_seconds: f64,
    /// Number of tasks searched.
    pub tasks: u64,
    /// Number of queries read.
    pub queries: u64,
    /// Residues of the queries read.
    pub query_residues: u64,
    /// Number of messages sent to other ranks.
    pub messages: u64,
    /// Approximate bytes of the messages sent to other ranks.
    pub message_bytes: u64,
    /// The loading of the database into memory.
    pub loaded: LoadingCosts,
    /// Costs of metadata, on a master whose report is made at another site.
    pub metadata: Option<EncodingCosts>,
}

impl RankTotals {
    fn add(&mut self, span: &Span, took: Duration) {
        *self.seconds.entry(span.kind).or_default() += took.as_secs_f64();
        let number = |name: &str| span.args.get(name).and_then(Value::as_u64).unwrap_or(0);
        match span.kind {
            Kind::Search => self.tasks += 1,
            Kind::Read => {
                self.queries += number("queries");
                self.query_residues += number("residues");
            }
            _ => {}
        }
    }
}

impl Recorder {
    /// Starts recording. With the path of a trace, events also go to this rank's part of it.
    ///
    /// # Errors
    /// A file that cannot be created.
    pub fn new(rank: u32, trace: Option<&Path>) -> io::Result<Self> {
        let file = trace.map(|trace| create_part(trace, rank)).transpose()?;
        let start = Instant::now();
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let state = Recording {
            sums: RankTotals::default(),
            idle_since: Some(start),
            file: file.map(BufWriter::new),
            failure: None,
            named: Vec::new(),
            counters: BTreeMap::new(),
        };
        Ok(Recorder(Some(Arc::new(Inner {
            rank,
            start,
            epoch: epoch.as_micros() as u64,
            state: Mutex::new(state),
        }))))
    }

    /// Returns whether the recorder is on.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Records how the database came into memory.
    pub fn set_loaded(&self, loaded: LoadingCosts) {
        if let Some(inner) = &self.0 {
            inner.lock().sums.loaded = loaded;
        }
    }

    /// Records the costs of metadata so far.
    pub fn set_metadata_costs(&self, costs: &EncodingCosts) {
        if let Some(inner) = &self.0 {
            inner.lock().sums.metadata = Some(costs.clone());
        }
    }

    /// Begins an activity, which ends when the span is dropped.
    pub fn begin(&self, lane: Lane, kind: Kind) -> Span {
        let start = self.0.as_ref().map(|_| Instant::now());
        if let (Lane::Search, Some(inner), Some(start)) = (lane, &self.0, start) {
            inner.end_wait(start);
        }
        Span { recorder: self.clone(), lane, kind, start, args: Map::new() }
    }

    /// Sets the value of a counter. Changes are written to the file at intervals only.
    pub fn set_counter(&self, name: &'static str, value: u64) {
        let Some(inner) = &self.0 else { return };
        let mut state = inner.lock();
        let counter = state.counters.entry(name).or_insert(Counter { value, written: None });
        counter.value = value;
        let due = match counter.written {
            Some((written, when)) => written != value && when.elapsed() >= COUNTER_INTERVAL,
            None => true,
        };
        if due && state.file.is_some() {
            inner.write_counter(&mut state, name, Instant::now());
        }
    }

    /// Ends the recording and returns the totals. Activities still in progress are not recorded.
    ///
    /// # Errors
    /// The first error of writing the trace.
    pub fn finish(&self) -> io::Result<RankTotals> {
        let Some(inner) = &self.0 else { return Ok(RankTotals::default()) };
        let now = Instant::now();
        inner.end_wait(now);
        let mut state = inner.lock();
        let names: Vec<&'static str> = state.counters.keys().copied().collect();
        for name in names {
            inner.write_counter(&mut state, name, now);
        }
        let flushed = state.file.take().map_or(Ok(()), |mut file| file.flush());
        if let Some(error) = state.failure.take() {
            return Err(error);
        }
        flushed?;
        let mut sums = std::mem::take(&mut state.sums);
        sums.wall_seconds = (now - inner.start).as_secs_f64();
        sums.messages = state.counters.get(MESSAGES).map_or(0, |counter| counter.value);
        sums.message_bytes = state.counters.get(MESSAGE_BYTES).map_or(0, |counter| counter.value);
        Ok(sums)
    }
}

impl Inner {
    /// Locks the recording. Ignores a poisoned lock, because the panic ends the run.
    fn lock(&self) -> MutexGuard<'_, Recording> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn micros(&self, time: Instant) -> u64 {
        self.epoch + time.saturating_duration_since(self.start).as_micros() as u64
    }

    /// Ends the wait of the search threads.
    fn end_wait(&self, now: Instant) {
        let mut state = self.lock();
        let Some(since) = state.idle_since.take() else { return };
        let waited = now.saturating_duration_since(since);
        *state.sums.seconds.entry(Kind::Wait).or_default() += waited.as_secs_f64();
        if waited >= SHORT_WAIT {
            self.write_slice(&mut state, Lane::Search, Kind::Wait, (since, now), Map::new());
        }
    }

    fn end(&self, span: &mut Span, start: Instant) {
        let now = Instant::now();
        let mut state = self.lock();
        state.sums.add(span, now - start);
        if span.lane == Lane::Search {
            state.idle_since = Some(now);
        }
        let args = std::mem::take(&mut span.args);
        self.write_slice(&mut state, span.lane, span.kind, (start, now), args);
    }

    fn write_slice(
        &self,
        state: &mut Recording,
        lane: Lane,
        kind: Kind,
        (start, end): (Instant, Instant),
        args: Map<String, Value>,
    ) {
        if state.file.is_none() {
            return;
        }
        let track = Track { rank: self.rank, lane };
        if !state.named.contains(&lane) {
            state.named.push(lane);
            self.name_track(state, track);
        }
        let ts = self.micros(start);
        state.write(&Event {
            ph: "X".into(),
            pid: PROCESS,
            tid: track.tid(),
            ts,
            dur: Some(self.micros(end).saturating_sub(ts)),
            name: name(kind, &args),
            cat: Some(kind),
            args,
        });
    }

    fn name_track(&self, state: &mut Recording, track: Track) {
        let values = [
            ("thread_name", "name", track.to_string().into()),
            ("thread_sort_index", "sort_index", track.tid().into()),
        ];
        for (name, key, value) in values {
            let args = Map::from_iter([(key.to_owned(), value)]);
            let (ph, tid) = ("M".to_owned(), track.tid());
            let name = name.to_owned();
            state.write(&Event { ph, pid: PROCESS, tid, ts: 0, dur: None, name, cat: None, args });
        }
    }

    fn write_counter(&self, state: &mut Recording, name: &'static str, now: Instant) {
        let Some(counter) = state.counters.get_mut(name) else { return };
        let value = counter.value;
        if counter.written.replace((value, now)).is_some_and(|(written, _)| written == value) {
            return;
        }
        state.write(&Event {
            ph: "C".into(),
            pid: PROCESS,
            tid: Track { rank: self.rank, lane: Lane::Search }.tid(),
            ts: self.micros(now),
            dur: None,
            name: format!("rank {} {name}", self.rank),
            cat: None,
            args: Map::from_iter([(name.to_owned(), value.into())]),
        });
    }
}

impl Recording {
    /// Appends an event to the file as a line. An error is kept for the end, because the search
    /// matters more.
    fn write(&mut self, event: &Event) {
        let Some(file) = &mut self.file else { return };
        let written = serde_json::to_writer(&mut *file, event)
            .map_err(io::Error::from)
            .and_then(|()| file.write_all(b"\n"));
        if let Err(error) = written {
            self.failure = Some(error);
            self.file = None;
        }
    }
}

/// Returns the name of a slice, such as `search block 3 partition 2`.
fn name(kind: Kind, args: &Map<String, Value>) -> String {
    let mut name = kind.name().to_owned();
    for key in ["block", "partition"] {
        if let Some(number) = args.get(key) {
            name.push_str(&format!(" {key} {number}"));
        }
    }
    name
}

impl Span {
    /// Sets an argument of the activity, such as `block`.
    pub fn arg(&mut self, name: &str, number: u64) {
        if self.start.is_some() {
            self.args.insert(name.to_owned(), number.into());
        }
    }

    /// Adds to an argument of the activity, which starts at 0.
    pub fn add(&mut self, name: &str, more: u64) {
        let before = self.args.get(name).and_then(Value::as_u64).unwrap_or(0);
        self.arg(name, before + more);
    }

    /// Sets the kind of the activity, when it is known late.
    pub fn set_kind(&mut self, kind: Kind) {
        self.kind = kind;
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if let (Some(inner), Some(start)) = (self.recorder.0.clone(), self.start) {
            inner.end(self, start);
        }
    }
}

//! When the state machines of a rank hear of the time.

use std::time::{Duration, Instant};

use fleetblast_fleet::config::Heartbeat;

/// Without heartbeats, the state machines hear of the time this often.
const TICK: Duration = Duration::from_secs(1);

/// Tells when it is time.
///
/// A tick comes when nothing else happens any more, so that nobody is blamed for a silence while what he said waits to be
/// heard. But messages may keep coming: they do not put it off for longer than half of what lies between two ticks. That
/// counts from when this rank could listen: it may have been held up, by a file system say.
pub struct Clock {
    interval: Duration,
    ticked: Instant,
    /// Since when the next tick is due, as far as anybody has looked.
    due: Option<Instant>,
}

impl Clock {
    /// Starts now, with a tick for each sign of life.
    pub fn new(heartbeat: Option<Heartbeat>) -> Clock {
        let interval = heartbeat.map_or(TICK, |beat| Duration::from_nanos(beat.interval.0));
        Clock { interval, ticked: Instant::now(), due: None }
    }

    /// How long to wait for something else to happen before the next tick.
    pub fn rest(&self) -> Duration {
        self.interval.saturating_sub(self.ticked.elapsed())
    }

    /// Whether the tick can be put off no longer.
    pub fn is_late(&mut self) -> bool {
        if !self.rest().is_zero() {
            return false;
        }
        self.due.get_or_insert_with(Instant::now).elapsed() >= self.interval / 2
    }

    /// The tick comes.
    pub fn tick(&mut self) {
        self.ticked = Instant::now();
        self.due = None;
    }
}

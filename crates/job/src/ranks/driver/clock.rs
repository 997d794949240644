//! The clock of a rank, which decides when its state machines receive the time.

use std::time::{Duration, Instant};

use fleetblast_fleet::config::Heartbeat;

/// Time between two ticks, without heartbeats.
const TICK: Duration = Duration::from_secs(1);

/// Decides when the next tick is due.
///
/// A tick waits until no event is left. So no rank is reported as silent while its message is still
/// in the queue. If events keep coming, they delay the tick by at most half of the interval. The
/// delay counts from when this rank noticed that the tick was due: a file system may have blocked
/// it before.
pub struct Clock {
    interval: Duration,
    ticked: Instant,
    /// When this rank noticed that the next tick is due.
    due: Option<Instant>,
}

impl Clock {
    /// Starts the clock now, with one tick for each heartbeat.
    pub fn new(heartbeat: Option<Heartbeat>) -> Clock {
        let interval = heartbeat.map_or(TICK, |beat| Duration::from_nanos(beat.interval.0));
        Clock { interval, ticked: Instant::now(), due: None }
    }

    /// Returns how long to wait for other events before the next tick.
    pub fn time_until_tick(&self) -> Duration {
        self.interval.saturating_sub(self.ticked.elapsed())
    }

    /// Returns whether the tick can be delayed no longer.
    pub fn is_late(&mut self) -> bool {
        if !self.time_until_tick().is_zero() {
            return false;
        }
        self.due.get_or_insert_with(Instant::now).elapsed() >= self.interval / 2
    }

    /// Starts the next interval.
    pub fn tick(&mut self) {
        self.ticked = Instant::now();
        self.due = None;
    }
}

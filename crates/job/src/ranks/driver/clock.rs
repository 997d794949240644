//! The clock of a rank. A tick is an event with which the state machines of the rank receive the
//! time.

use std::time::{Duration, Instant};

use fleetblast_fleet::config::Heartbeat;

/// Time between two ticks if there are no heartbeats.
const TICK: Duration = Duration::from_secs(1);

/// Decides when the next tick is due.
///
/// A due tick waits until all waiting events are handled. So no rank is reported as silent while
/// its message is still in the queue. If events keep coming, they delay the tick by at most half of
/// the interval. The delay counts from the time when this rank noticed that the tick was due,
/// because a file system may have blocked the rank before.
pub struct Clock {
    interval: Duration,
    ticked: Instant,
    /// When this rank noticed that the next tick is due.
    due: Option<Instant>,
}

impl Clock {
    /// Starts the clock. The interval of ticks is the interval of heartbeats, or `TICK`
    /// without heartbeats.
    pub fn new(heartbeat: Option<Heartbeat>) -> Clock {
        let interval = heartbeat.map_or(TICK, |beat| Duration::from_nanos(beat.interval.0));
        Clock { interval, ticked: Instant::now(), due: None }
    }

    /// Returns how long to wait for other events before the next tick.
    pub fn time_until_tick(&self) -> Duration {
        self.interval.saturating_sub(self.ticked.elapsed())
    }

    /// Returns whether the tick may not be delayed any longer.
    pub fn is_late(&mut self) -> bool {
        if !self.time_until_tick().is_zero() {
            return false;
        }
        self.due.get_or_insert_with(Instant::now).elapsed() >= self.interval / 2
    }

    /// Records that a tick happens now, and starts the next interval.
    pub fn tick(&mut self) {
        self.ticked = Instant::now();
        self.due = None;
    }
}

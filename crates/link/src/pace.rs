//! What a link is seen to give: how long a word takes there and back, and how many bytes come a second.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A link and the other side, as they were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// From here to there and back; the least that was seen.
    pub round_trip: Duration,
    /// Bytes a second, at least: nothing as long as too little crossed to know.
    pub rate: Option<f64>,
    /// Threads that work at the other side.
    pub workers: u32,
}

/// Fewer bytes tell nothing.
const LEAST: u64 = 512;
/// What waits on the way while the link is as busy as it can be, at least.
const BUSY: u64 = 64 << 10;
/// A rate is looked at over so long at least, and over this at most.
const WINDOW: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];
/// Clocks and threads are not more exact.
const EXACT: Duration = Duration::from_millis(1);
/// How much of a rate that is lower is believed at a time.
const DOUBT: f64 = 0.125;

/// Measures it.
#[derive(Debug, Default)]
pub struct Meter {
    pace: Pace,
    /// Bytes that were sent, and of these came.
    sent: u64,
    came: u64,
    /// Since when, and from which byte, something always was on its way.
    burst: Option<(Instant, u64)>,
    /// What came when, in that time.
    arrivals: VecDeque<(Instant, u64)>,
}

impl Meter {
    /// A connection on which the next byte is the one at `offset`.
    pub fn connected(&mut self, round_trip: Duration, workers: u32, offset: u64) {
        let least = match self.pace.round_trip {
            Duration::ZERO => round_trip,
            before => before.min(round_trip),
        };
        self.pace = Pace { round_trip: least, workers, ..self.pace };
        (self.sent, self.came, self.burst) = (offset, offset, None);
        self.arrivals.clear();
    }

    /// Bytes up to this one are on their way.
    pub fn sent(&mut self, now: Instant, offset: u64) {
        if self.came == self.sent {
            self.burst = Some((now, self.sent));
            self.arrivals.clear();
        }
        self.sent = offset;
    }

    /// Bytes up to this one came.
    pub fn came(&mut self, now: Instant, offset: u64) {
        let Some((begun, from)) = self.burst else { return };
        self.came = offset.clamp(self.came, self.sent);
        let bytes = self.came.saturating_sub(from);
        if bytes >= LEAST {
            let took = now.saturating_duration_since(begun).saturating_sub(self.pace.round_trip);
            self.learn(bytes as f64 / took.max(EXACT).as_secs_f64(), false);
        }
        while self.arrivals.front().is_some_and(|&(then, _)| now.duration_since(then) > WINDOW[1]) {
            self.arrivals.pop_front();
        }
        let is_busy = self.sent - self.came >= BUSY;
        if let Some(&(then, before)) = self.arrivals.front()
            && now.duration_since(then) >= WINDOW[0]
        {
            let bytes = (self.came - before) as f64;
            self.learn(bytes / now.duration_since(then).as_secs_f64(), is_busy);
        }
        self.arrivals.push_back((now, self.came));
    }

    /// What is known.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// A rate was seen; a lower one tells something only of a link that was busy.
    fn learn(&mut self, seen: f64, is_busy: bool) {
        let rate = self.pace.rate.unwrap_or(0.0);
        if seen > rate {
            self.pace.rate = Some(seen);
        } else if is_busy {
            self.pace.rate = Some(rate + DOUBT * (seen - rate));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link with a rate and a delay there and back, over which `bytes` go at once in messages of 16 KiB.
    fn burst(meter: &mut Meter, begin: Instant, from: u64, bytes: u64, rate: f64, trip: Duration) {
        let pieces = (1..=bytes.div_ceil(1 << 14)).map(|piece| (piece << 14).min(bytes));
        pieces.clone().for_each(|piece| meter.sent(begin, from + piece));
        for piece in pieces {
            let came = begin + trip + Duration::from_secs_f64(piece as f64 / rate);
            meter.came(came, from + piece);
        }
    }

    #[test]
    fn the_rate_is_that_of_the_link_whatever_its_delay() {
        for (rate, trip) in [(12.5e6, 200), (12.5e6, 0), (1.25e6, 20)] {
            let trip = Duration::from_millis(trip);
            let mut meter = Meter::default();
            meter.connected(trip, 3, 100);
            assert_eq!(meter.pace(), Pace { round_trip: trip, rate: None, workers: 3 });
            burst(&mut meter, Instant::now(), 100, 4 << 20, rate, trip);
            let seen = meter.pace().rate.unwrap();
            assert!((0.8..1.3).contains(&(seen / rate)), "{seen} of {rate}");
        }
    }

    #[test]
    fn little_now_and_then_is_not_taken_for_a_slow_link() {
        let (mut meter, begin) = (Meter::default(), Instant::now());
        meter.connected(Duration::from_millis(10), 1, 0);
        burst(&mut meter, begin, 0, 4 << 20, 1e7, Duration::from_millis(10));
        let before = meter.pace().rate.unwrap();
        for second in 1..20 {
            let then = begin + Duration::from_secs(second);
            burst(
                &mut meter,
                then,
                (4 << 20) + second * 5000,
                5000,
                1e5,
                Duration::from_millis(10),
            );
        }
        assert_eq!(meter.pace().rate, Some(before));
    }

    #[test]
    fn a_link_that_gets_slower_is_believed_in_time() {
        let (mut meter, begin) = (Meter::default(), Instant::now());
        meter.connected(Duration::from_millis(1), 1, 0);
        burst(&mut meter, begin, 0, 4 << 20, 1e8, Duration::from_millis(1));
        burst(&mut meter, begin + Duration::from_secs(9), 4 << 20, 4 << 20, 1e6, Duration::ZERO);
        assert!(meter.pace().rate.unwrap() < 2e6);
        // A new connection keeps what is known.
        meter.connected(Duration::from_millis(7), 2, 12);
        assert_eq!(meter.pace().round_trip, Duration::from_millis(1));
        assert!(meter.pace().rate.is_some());
        // What was not sent cannot come.
        meter.came(begin, u64::MAX);
        meter.sent(begin, 20);
        meter.came(begin, u64::MAX);
        meter.came(begin, 0);
    }
}

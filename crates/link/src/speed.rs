//! Measures a link: its round-trip time, and its bandwidth in bytes per second.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Measured round-trip time and bandwidth of a link, and the number of threads at the other site.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkSpeed {
    /// Shortest round-trip time measured so far.
    pub round_trip: Duration,
    /// Bandwidth in bytes per second; `None` until enough bytes have crossed.
    pub rate: Option<f64>,
    /// Number of threads at the other site.
    pub workers: u32,
}

/// Fewest bytes from which a bandwidth is computed.
const LEAST: u64 = 512;
/// Fewest bytes in flight with which a link counts as fully used.
const BUSY: u64 = 64 << 10;
/// Shortest and longest time over which a bandwidth is computed.
const WINDOW: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];
/// Shortest time that clocks and threads can measure.
const EXACT: Duration = Duration::from_millis(1);
/// Weight of a new, lower rate in the moving average.
const WEIGHT: f64 = 0.125;

/// Measures the round-trip time and the bandwidth of a link, from the offsets sent and received.
#[derive(Debug, Default)]
pub struct Meter {
    speed: LinkSpeed,
    /// Offset up to which bytes have been sent.
    sent: u64,
    /// Offset up to which bytes have arrived.
    received: u64,
    /// Start of the current period in which bytes are always in flight, and offset of its first
    /// byte.
    burst: Option<(Instant, u64)>,
    /// Times and offsets of the arrivals in the last second of the current period, oldest first.
    arrivals: VecDeque<(Instant, u64)>,
}

impl Meter {
    /// Records a new connection whose next byte is at `offset`. `workers` is the number of threads
    /// at the other site.
    pub fn record_connection(&mut self, round_trip: Duration, workers: u32, offset: u64) {
        let least = match self.speed.round_trip {
            Duration::ZERO => round_trip,
            before => before.min(round_trip),
        };
        self.speed = LinkSpeed { round_trip: least, workers, ..self.speed };
        (self.sent, self.received, self.burst) = (offset, offset, None);
        self.arrivals.clear();
    }

    /// Records that the bytes up to `offset` were sent.
    pub fn record_sent(&mut self, now: Instant, offset: u64) {
        if self.received == self.sent {
            self.burst = Some((now, self.sent));
            self.arrivals.clear();
        }
        self.sent = offset;
    }

    /// Records that the bytes up to `offset` arrived.
    pub fn record_arrival(&mut self, now: Instant, offset: u64) {
        let Some((begun, from)) = self.burst else { return };
        self.received = offset.clamp(self.received, self.sent);
        let bytes = self.received.saturating_sub(from);
        if bytes >= LEAST {
            let took = now.saturating_duration_since(begun).saturating_sub(self.speed.round_trip);
            self.learn(bytes as f64 / took.max(EXACT).as_secs_f64(), false);
        }
        while self.arrivals.front().is_some_and(|&(then, _)| now.duration_since(then) > WINDOW[1]) {
            self.arrivals.pop_front();
        }
        let is_busy = self.sent - self.received >= BUSY;
        if let Some(&(then, before)) = self.arrivals.front()
            && now.duration_since(then) >= WINDOW[0]
        {
            let bytes = (self.received - before) as f64;
            self.learn(bytes / now.duration_since(then).as_secs_f64(), is_busy);
        }
        self.arrivals.push_back((now, self.received));
    }

    /// Returns the properties measured so far.
    pub fn speed(&self) -> LinkSpeed {
        self.speed
    }

    /// Adds a measured rate in bytes per second. A lower rate counts only if the link was fully
    /// used.
    fn learn(&mut self, seen: f64, is_busy: bool) {
        let rate = self.speed.rate.unwrap_or(0.0);
        if seen > rate {
            self.speed.rate = Some(seen);
        } else if is_busy {
            self.speed.rate = Some(rate + WEIGHT * (seen - rate));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records `bytes` bytes that are sent at once, in messages of 16 KiB, over a link with this
    /// rate and round-trip time.
    fn burst(meter: &mut Meter, begin: Instant, from: u64, bytes: u64, rate: f64, trip: Duration) {
        let pieces = (1..=bytes.div_ceil(1 << 14)).map(|piece| (piece << 14).min(bytes));
        pieces.clone().for_each(|piece| meter.record_sent(begin, from + piece));
        for piece in pieces {
            let arrival = begin + trip + Duration::from_secs_f64(piece as f64 / rate);
            meter.record_arrival(arrival, from + piece);
        }
    }

    #[test]
    fn the_rate_is_that_of_the_link_whatever_its_delay() {
        for (rate, trip) in [(12.5e6, 200), (12.5e6, 0), (1.25e6, 20)] {
            let trip = Duration::from_millis(trip);
            let mut meter = Meter::default();
            meter.record_connection(trip, 3, 100);
            assert_eq!(meter.speed(), LinkSpeed { round_trip: trip, rate: None, workers: 3 });
            burst(&mut meter, Instant::now(), 100, 4 << 20, rate, trip);
            let seen = meter.speed().rate.unwrap();
            assert!((0.8..1.3).contains(&(seen / rate)), "{seen} of {rate}");
        }
    }

    #[test]
    fn small_amounts_do_not_make_a_link_look_slow() {
        let (mut meter, begin) = (Meter::default(), Instant::now());
        meter.record_connection(Duration::from_millis(10), 1, 0);
        burst(&mut meter, begin, 0, 4 << 20, 1e7, Duration::from_millis(10));
        let before = meter.speed().rate.unwrap();
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
        assert_eq!(meter.speed().rate, Some(before));
    }

    #[test]
    fn the_rate_of_a_link_that_gets_slower_is_found_in_time() {
        let (mut meter, begin) = (Meter::default(), Instant::now());
        meter.record_connection(Duration::from_millis(1), 1, 0);
        burst(&mut meter, begin, 0, 4 << 20, 1e8, Duration::from_millis(1));
        burst(&mut meter, begin + Duration::from_secs(9), 4 << 20, 4 << 20, 1e6, Duration::ZERO);
        assert!(meter.speed().rate.unwrap() < 2e6);
        // A new connection keeps the measurements.
        meter.record_connection(Duration::from_millis(7), 2, 12);
        assert_eq!(meter.speed().round_trip, Duration::from_millis(1));
        assert!(meter.speed().rate.is_some());
        // Bytes that were not sent cannot arrive.
        meter.record_arrival(begin, u64::MAX);
        meter.record_sent(begin, 20);
        meter.record_arrival(begin, u64::MAX);
        meter.record_arrival(begin, 0);
    }
}

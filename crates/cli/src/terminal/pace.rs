//! Estimates the remaining time of a search.

use std::time::Duration;

/// Time from the start of the search until the first estimate.
const SETTLED: Duration = Duration::from_secs(1);

/// Weighted mean rate of progress over the whole search. The weight of a sample grows with the time
/// since the start, so the rate becomes steadier and the slow start counts little.
#[derive(Debug, Default)]
pub struct ProgressRate {
    /// Time of the last sample since the start of the search, and the amount finished by then.
    last: (Duration, f64),
    /// Amount finished per second.
    rate: f64,
}

impl ProgressRate {
    /// Adds a sample: `done` was finished at the time `at` since the start.
    pub fn note(&mut self, at: Duration, done: f64) {
        let (before, was) = self.last;
        let passed = at.saturating_sub(before).as_secs_f64();
        if passed > 0.0 {
            let weight = (2.0 * passed / at.as_secs_f64()).min(1.0);
            self.rate += weight * ((done - was).max(0.0) / passed - self.rate);
            self.last = (at, done);
        }
    }

    /// Returns the expected time for the remaining amount `rest`; `None` if there is no estimate
    /// yet.
    pub fn left(&self, rest: f64) -> Option<Duration> {
        let seconds = rest.max(0.0) / self.rate;
        let is_settled = self.last.0 >= SETTLED && self.rate > 0.0;
        is_settled.then(|| Duration::try_from_secs_f64(seconds).ok()).flatten()
    }
}

/// Formats a time as `1:02:03`, or as `2:03` below an hour.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        hours => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns estimates of the remaining time, made five times a second; `done` is the finished
    /// amount at each time.
    fn estimates(until: f64, total: f64, done: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let mut pace = ProgressRate::default();
        let mut times = Vec::new();
        for tick in 1..(until * 5.0) as u32 {
            let at = f64::from(tick) / 5.0;
            pace.note(Duration::from_secs_f64(at), done(at));
            if let Some(left) = pace.left(total - done(at)) {
                times.push((at, left.as_secs_f64()));
            }
        }
        times
    }

    #[test]
    fn the_estimate_of_an_even_search_is_exact() {
        let times = estimates(100.0, 50.0, |at| at / 2.0);
        assert!(times.len() > 490, "{}", times.len());
        for (at, left) in times {
            assert!((at + left - 100.0).abs() < 1e-6, "{left} s left at {at}");
        }
    }

    #[test]
    fn blocks_of_uneven_stages_do_not_shake_it() {
        // Blocks of 5 s: 80 % of each in the first 3 s, the rest in 2 s.
        let done = |at: f64| {
            let (block, within) = ((at / 5.0).floor(), at % 5.0);
            block + if within < 3.0 { 0.8 * within / 3.0 } else { 0.8 + 0.1 * (within - 3.0) }
        };
        let times = estimates(100.0, 20.0, done);
        let late: Vec<_> = times.iter().filter(|(at, _)| *at > 10.0).collect();
        assert!(late.len() > 400);
        for &(at, left) in late {
            assert!((at + left - 100.0).abs() < 10.0, "{left} s left at {at}");
        }
    }

    #[test]
    fn a_slow_begin_is_forgotten() {
        // No progress for 10 s, while the database is read; then one query a second until 110 s.
        let times = estimates(110.0, 100.0, |at| (at - 10.0).max(0.0));
        let (at, left) = *times.iter().find(|(at, _)| *at >= 60.0).expect("an estimate");
        assert!((at + left - 110.0).abs() < 3.0, "{left} s left at {at}");
    }

    #[test]
    fn there_is_no_estimate_without_progress() {
        assert_eq!(estimates(0.9, 1.0, |at| at), []);
        assert_eq!(estimates(30.0, 1.0, |_| 0.0), []);
    }

    #[test]
    fn a_clock_has_hours_if_needed() {
        let text = |seconds| clock(Duration::from_secs(seconds));
        assert_eq!((text(0), text(61)), ("0:00".into(), "1:01".into()));
        assert_eq!(text(3_723), "1:02:03");
        assert_eq!(clock(Duration::from_millis(59_600)), "1:00");
    }
}

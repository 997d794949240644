//! Draws the progress of a search, in a thread of its own.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::DisplayMode;
use super::meter::{Meter, Snapshot};
use super::pace::{ProgressRate, clock};

/// Time between two drawings of the bar.
const DRAW_EVERY: Duration = Duration::from_millis(200);
/// Least time between two lines without a terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Number of steps of the bar.
const STEPS: u64 = 10_000;

/// A display in progress; it is removed when dropped.
pub struct Screen {
    canvas: Arc<Canvas>,
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

/// The state that the drawing thread shows.
struct Canvas {
    how: DisplayMode,
    bar: ProgressBar,
    meter: Arc<Meter>,
    start: Instant,
    /// Text after the bar.
    note: Mutex<String>,
    drawn: AtomicBool,
}

impl Screen {
    /// Starts to draw; `None` if that is impossible.
    pub fn new(how: DisplayMode, meter: &Arc<Meter>, start: Instant) -> Option<Self> {
        let template = match meter.snapshot().total {
            Some(_) => "{bar:24} {wide_msg}",
            None => "{spinner} {wide_msg}",
        };
        let target = match how {
            DisplayMode::Bar => ProgressDrawTarget::stderr(),
            _ => ProgressDrawTarget::hidden(),
        };
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(STEPS), target).with_style(style);
        let (note, drawn) = (Mutex::default(), AtomicBool::new(false));
        let canvas = Arc::new(Canvas { how, bar, meter: Arc::clone(meter), start, note, drawn });
        let (end, ended) = channel();
        let shared = Arc::clone(&canvas);
        let draw = move || {
            let (mut pace, mut lines) = (ProgressRate::default(), Lines::default());
            while ended.recv_timeout(DRAW_EVERY) == Err(RecvTimeoutError::Timeout) {
                shared.draw(&mut pace, &mut lines);
            }
        };
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(draw).ok()?;
        Some(Screen { canvas, thread: Some((end, thread)) })
    }

    /// Writes a line on standard error; the bar moves below it.
    pub fn say(&self, line: &[u8]) {
        let write = || {
            let _ = io::stderr().write_all(line);
        };
        match self.canvas.how == DisplayMode::Bar && self.canvas.is_drawn() && in_foreground() {
            true => self.canvas.bar.suspend(write),
            false => write(),
        }
    }

    /// Sets the text after the bar.
    pub fn note(&self, text: String) {
        *self.canvas.note.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// Completes the bar and leaves it. Returns whether more may be written to the terminal.
    pub fn finish(mut self) -> bool {
        self.end();
        let Canvas { how, bar, meter, start, .. } = &*self.canvas;
        let free = *how != DisplayMode::Bar || in_foreground();
        if *how == DisplayMode::Bar && self.canvas.is_drawn() && free {
            let (queries, took) = (HumanCount(meter.snapshot().finished), clock(start.elapsed()));
            bar.set_message(format!("100 %  {queries} queries, {took}"));
            bar.finish();
            let _ = io::stderr().write_all(b"\n");
        }
        free
    }

    /// Stops the thread.
    fn end(&mut self) {
        if let Some((end, thread)) = self.thread.take() {
            drop(end);
            // The result of the thread, even a panic, does not matter.
            let _ = thread.join();
        }
    }
}

impl Drop for Screen {
    /// Removes an unfinished bar, so that an error message takes its place.
    fn drop(&mut self) {
        self.end();
        let bar = &self.canvas.bar;
        if !bar.is_finished() {
            if !self.canvas.is_drawn() || !in_foreground() {
                bar.set_draw_target(ProgressDrawTarget::hidden());
            }
            bar.finish_and_clear();
        }
    }
}

impl Canvas {
    fn is_drawn(&self) -> bool {
        self.drawn.load(Ordering::Relaxed)
    }

    fn draw(&self, pace: &mut ProgressRate, lines: &mut Lines) {
        let seen = self.meter.snapshot();
        let elapsed = self.start.elapsed();
        pace.note(elapsed, seen.done_here);
        let left = seen.total.and_then(|total| pace.left(total as f64 - seen.done));
        let mut text = sentence(&seen, left, elapsed);
        match self.how {
            DisplayMode::Bar if in_foreground() => {
                text += &self.note.lock().unwrap_or_else(PoisonError::into_inner);
                self.bar
                    .set_position(seen.share().map_or(0, |share| (share * STEPS as f64) as u64));
                self.bar.set_message(text);
                self.bar.tick();
                self.drawn.store(true, Ordering::Relaxed);
            }
            DisplayMode::Lines if lines.is_due(elapsed, seen.done) => {
                let _ = writeln!(io::stderr(), "fleetblast: {text}");
            }
            _ => {}
        }
    }
}

/// The last progress line that was written without a terminal: its time since the start, and the
/// amount finished by then.
#[derive(Default)]
struct Lines {
    at: Duration,
    done: f64,
}

impl Lines {
    /// Returns whether another line is due, and notes it as written. It is due if there is progress
    /// and the last line is old enough. Lines become rarer with time, so that a long search does
    /// not fill a file.
    fn is_due(&mut self, now: Duration, done: f64) -> bool {
        let due = now >= (self.at + LINE_EVERY).max(self.at.mul_f64(1.02)) && done > self.done;
        if due {
            *self = Lines { at: now, done };
        }
        due
    }
}

/// Formats the progress in words.
fn sentence(seen: &Snapshot, left: Option<Duration>, elapsed: Duration) -> String {
    let finished = HumanCount(seen.finished);
    let (Some(share), Some(total)) = (seen.share(), seen.total) else {
        let within = match seen.under_way {
            0 => String::new(),
            under_way => {
                let share = (seen.done - seen.finished as f64) / under_way as f64;
                format!(", {} under way ({:.1} %)", HumanCount(under_way), share * 100.0)
            }
        };
        return format!("{finished} queries done{within}, {}", clock(elapsed));
    };
    let left = left.map_or(String::new(), |left| format!(", {} left", clock(left)));
    // The number is rounded down: only the end is 100 %.
    let percent = (share * 1000.0).floor() / 10.0;
    format!("{percent:.1} %  {finished}/{} queries{left}", HumanCount(total))
}

/// Returns whether this job is in the foreground. Drawings of a background job would disturb the
/// terminal of another job.
fn in_foreground() -> bool {
    let group = rustix::termios::tcgetpgrp(io::stderr());
    group.map_or(true, |group| group == rustix::process::getpgrp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_when_there_is_news_and_not_too_often() {
        let mut lines = Lines::default();
        let mut written = Vec::new();
        // No progress from 30 s to 60 s.
        for second in 0..100_u64 {
            let done = second.min(30) + second.saturating_sub(60);
            if lines.is_due(Duration::from_secs(second), done as f64) {
                written.push(second);
            }
        }
        assert_eq!(written, [10, 20, 30, 61, 71, 81, 91]);
        // After an hour, about every minute.
        let mut lines = Lines { at: Duration::from_secs(3600), done: 1.0 };
        assert!(!lines.is_due(Duration::from_secs(3660), 2.0));
        assert!(lines.is_due(Duration::from_secs(3680), 2.0));
    }

    #[test]
    fn a_sentence_shows_only_known_numbers() {
        let seen = Snapshot {
            total: Some(2000),
            finished: 1000,
            under_way: 100,
            done: 1062.9,
            done_here: 0.0,
        };
        let (left, elapsed) = (Some(Duration::from_secs(161)), Duration::from_secs(61));
        assert_eq!(sentence(&seen, left, elapsed), "53.1 %  1,000/2,000 queries, 2:41 left");
        assert_eq!(sentence(&seen, None, elapsed), "53.1 %  1,000/2,000 queries");
        let unknown = Snapshot { total: None, ..seen };
        let expected = "1,000 queries done, 100 under way (62.9 %), 1:01";
        assert_eq!(sentence(&unknown, None, elapsed), expected);
        let between = Snapshot { under_way: 0, done: 1000.0, ..unknown };
        assert_eq!(sentence(&between, None, elapsed), "1,000 queries done, 1:01");
        let nearly = Snapshot { done: 2500.0, ..seen };
        assert!(sentence(&nearly, None, elapsed).starts_with("99.9 %"));
    }
}

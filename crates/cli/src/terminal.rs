//! How far the search is, on standard error, for people: nothing is written when nobody watches.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, ProgressBar, ProgressStyle};

use crate::timing::Usage;

/// Least time between two drawings of the bar.
const DRAW_EVERY: Duration = Duration::from_millis(200);

/// Whether to show progress (`-progress`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// If standard error is a terminal.
    Auto,
    /// Always; where standard error is no terminal, only the closing line.
    Yes,
    /// Never.
    No,
}

impl When {
    /// From the word of the option. Words other than those of the option count as `auto`.
    pub fn from_word(word: &OsStr) -> Self {
        match word.to_str() {
            Some("yes") => When::Yes,
            Some("no") => When::No,
            _ => When::Auto,
        }
    }
}

/// Progress of one search, and what is said meanwhile. Clones show the same bar; may be shared by threads.
#[derive(Clone)]
pub struct Progress {
    bar: ProgressBar,
    drawn: bool,
    closing_line: bool,
    start: Instant,
}

impl Progress {
    /// Progress that is shown as `when` says, from [`start`](Self::start) on.
    ///
    /// `report_on_stdout` says that the report goes to standard output: if that is a terminal too, the bar would be drawn
    /// into it and is left out.
    pub fn new(when: When, report_on_stdout: bool) -> Self {
        let in_the_way = report_on_stdout && io::stdout().is_terminal();
        let drawn = io::stderr().is_terminal() && !in_the_way && when != When::No;
        let closing_line = drawn || when == When::Yes;
        Self { bar: ProgressBar::hidden(), drawn, closing_line, start: Instant::now() }
    }

    /// Whether a bar is drawn.
    pub fn is_drawn(&self) -> bool {
        self.drawn
    }

    /// Starts to show progress; `total` is the number of queries, if known.
    pub fn start(&mut self, total: Option<u64>) {
        if !self.drawn {
            return;
        }
        self.bar = match total {
            Some(total) => ProgressBar::new(total).with_style(style(
                "{bar:30} {human_pos}/{human_len} queries, {per_sec}, {eta} left{msg}",
            )),
            None => ProgressBar::new_spinner()
                .with_style(style("{spinner} {human_pos} queries, {per_sec}, {elapsed}{msg}")),
        };
        self.bar.enable_steady_tick(DRAW_EVERY);
    }

    /// A line on standard error, which the bar makes room for. Nobody can be told if that fails.
    pub fn say(&self, line: &[u8]) {
        self.bar.suspend(|| {
            let _ = io::stderr().write_all(&[line, b"\n"].concat());
        });
    }

    /// Tells how many queries are done.
    pub fn tick(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Tells that so many more queries are done.
    pub fn advance(&self, more: u64) {
        self.bar.inc(more);
    }

    /// Says something behind the bar, from now on.
    pub fn note(&self, text: String) {
        self.bar.set_message(text);
    }

    /// Removes the bar and says what the search took, in one line.
    pub fn finish(self) {
        let queries = self.bar.position();
        self.bar.finish_and_clear();
        if self.closing_line {
            let line = closing_line(queries, self.start.elapsed(), Usage::now());
            // Progress is a courtesy; a failure to show it is not worth an error.
            let _ = writeln!(io::stderr(), "{line}");
        }
    }
}

/// A style from a template of this module.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn closing_line(queries: u64, wall: Duration, usage: Usage) -> String {
    let memory = match usage.peak_memory_bytes {
        Some(bytes) => format!(", peak memory {}", HumanBytes(bytes)),
        None => String::new(),
    };
    format!(
        "fleetblast: {queries} queries, {:.2} s wall, {:.2} s CPU{memory}",
        wall.as_secs_f64(),
        usage.cpu_seconds
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_line_tells_time_and_memory() {
        let usage = Usage { cpu_seconds: 3.5, peak_memory_bytes: Some(3 << 20) };
        let line = closing_line(7, Duration::from_millis(1250), usage);
        assert_eq!(line, "fleetblast: 7 queries, 1.25 s wall, 3.50 s CPU, peak memory 3.00 MiB");
        let usage = Usage { peak_memory_bytes: None, ..usage };
        assert!(closing_line(7, Duration::ZERO, usage).ends_with("CPU"));
    }

    #[test]
    fn words_of_the_option() {
        assert_eq!(When::from_word(OsStr::new("yes")), When::Yes);
        assert_eq!(When::from_word(OsStr::new("no")), When::No);
        assert_eq!(When::from_word(OsStr::new("auto")), When::Auto);
    }
}

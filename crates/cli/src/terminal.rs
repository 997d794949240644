//! How far the search is, on standard error, for people: nothing is written when nobody watches.

mod meter;
mod pace;
mod screen;

use std::env;
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::HumanBytes;
use rustix::fs::FileType;

use self::meter::Meter;
pub use self::meter::Stage;
use self::screen::Screen;
use crate::timing::Usage;

/// Whether to show progress (`-progress`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// If somebody watches, and no other program is likely to draw on the same terminal.
    Auto,
    /// Always; where standard error is no terminal, a line now and then.
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

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// A bar, and a line at the end.
    Bar,
    /// A line now and then.
    Lines,
    /// Only a line at the end.
    Closing,
    /// Not at all.
    Nothing,
}

/// What standard output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stdout {
    Terminal,
    Pipe,
    Other,
}

impl Stdout {
    fn look() -> Self {
        let stdout = io::stdout();
        let kind = rustix::fs::fstat(&stdout).map(|stat| FileType::from_raw_mode(stat.st_mode));
        match kind {
            Ok(FileType::Fifo | FileType::Socket) => Stdout::Pipe,
            _ if stdout.is_terminal() => Stdout::Terminal,
            _ => Stdout::Other,
        }
    }
}

/// `screen` says that standard error is a terminal that can be drawn on.
fn how(when: When, screen: bool, stdout: Stdout, report_on_stdout: bool) -> How {
    match (when, screen, stdout) {
        (When::No, ..) | (When::Auto, false, _) => How::Nothing,
        (When::Yes, false, _) => How::Lines,
        // The report itself comes there: a bar would be drawn into it.
        (When::Auto, true, Stdout::Terminal) if report_on_stdout => How::Nothing,
        (When::Yes, true, Stdout::Terminal) if report_on_stdout => How::Closing,
        // Who reads the pipe may be a pager, whose screen this is.
        (When::Auto, true, Stdout::Pipe) => How::Nothing,
        (_, true, _) => How::Bar,
    }
}

/// Progress of one search, and what is said meanwhile. Clones show the same; may be shared by threads.
#[derive(Clone)]
pub struct Progress {
    how: How,
    meter: Arc<Meter>,
    screen: Arc<Mutex<Option<Screen>>>,
    start: Instant,
}

impl Progress {
    /// Progress that is shown as `when` says, from [`start`](Self::start) on.
    ///
    /// `report_on_stdout` says that the report goes to standard output.
    pub fn new(when: When, report_on_stdout: bool) -> Self {
        let drawable = env::var_os("TERM").is_some_and(|kind| !kind.is_empty() && kind != "dumb");
        let screen = drawable && io::stderr().is_terminal();
        let how = how(when, screen, Stdout::look(), report_on_stdout);
        let (meter, screen) = (Arc::default(), Arc::default());
        Self { how, meter, screen, start: Instant::now() }
    }

    /// Whether it is shown how far the search is.
    pub fn is_drawn(&self) -> bool {
        matches!(self.how, How::Bar | How::Lines)
    }

    /// Starts to show progress; `total` is the number of queries, if known.
    pub fn start(&self, total: Option<u64>) {
        self.meter.expect(total);
        if self.is_drawn() {
            *self.screen() = Screen::new(self.how, &self.meter, self.start);
        }
    }

    /// A line on standard error, which the bar makes room for. Nobody can be told if that fails.
    pub fn say(&self, line: &[u8]) {
        let line = [line, b"\n"].concat();
        match &*self.screen() {
            Some(screen) => screen.say(&line),
            None => {
                let _ = io::stderr().write_all(&line);
            }
        }
    }

    /// Work on a block of so many queries begins.
    pub fn open(&self, block: u32, queries: u64) {
        self.meter.open(block, queries);
    }

    /// So much of a block is done at least, of 1.
    pub fn reach(&self, block: u32, share: f64) {
        self.meter.reach(block, share);
    }

    /// The only block under way begins a stage of so many steps.
    pub fn stage(&self, stage: Stage, steps: u64) {
        self.meter.stage(stage, steps);
    }

    /// So many more steps are done.
    pub fn step(&self, more: u64) {
        self.meter.step(more);
    }

    /// The report of a block is made.
    pub fn close(&self, block: u32) {
        self.meter.close(block);
    }

    /// So many queries were finished by an earlier run.
    pub fn skip(&self, queries: u64) {
        self.meter.skip(queries);
    }

    /// Says something behind the bar, from now on.
    pub fn note(&self, text: String) {
        if let Some(screen) = &*self.screen() {
            screen.note(text);
        }
    }

    /// Ends with all done, and says what the search took, in one line.
    pub fn finish(self) {
        let screen = self.screen().take();
        let free = screen.is_none_or(Screen::finish);
        if free && self.how != How::Nothing {
            let queries = self.meter.look().finished;
            let line = closing_line(queries, self.start.elapsed(), Usage::now());
            // Progress is a courtesy; a failure to show it is not worth an error.
            let _ = writeln!(io::stderr(), "{line}");
        }
    }

    /// Nothing panics while it holds the lock, and a screen is valid in any case.
    fn screen(&self) -> MutexGuard<'_, Option<Screen>> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

    #[test]
    fn nothing_is_drawn_into_reports_pipes_and_pagers() {
        use Stdout::{Other, Pipe, Terminal};
        for (screen, stdout, on_stdout, auto, yes) in [
            (true, Other, true, How::Bar, How::Bar),
            (true, Terminal, false, How::Bar, How::Bar),
            (true, Terminal, true, How::Nothing, How::Closing),
            (true, Pipe, true, How::Nothing, How::Bar),
            (true, Pipe, false, How::Nothing, How::Bar),
            (false, Other, true, How::Nothing, How::Lines),
            (false, Terminal, true, How::Nothing, How::Lines),
        ] {
            let place = (screen, stdout, on_stdout);
            assert_eq!(how(When::Auto, screen, stdout, on_stdout), auto, "{place:?}");
            assert_eq!(how(When::Yes, screen, stdout, on_stdout), yes, "{place:?}");
            assert_eq!(how(When::No, screen, stdout, on_stdout), How::Nothing, "{place:?}");
        }
    }
}

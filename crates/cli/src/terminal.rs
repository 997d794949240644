//! Shows the progress of a search on standard error, for people; writes nothing if nobody watches.

mod meter;
mod pace;
mod screen;

use std::env;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use fleetblast_job::audience::{Audience, Stage};
use fleetblast_job::timing::Usage;
use indicatif::HumanBytes;
use rustix::fs::FileType;

use self::meter::Meter;
use self::screen::Screen;
use crate::messages;

/// When to show progress (`-progress`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressMode {
    /// If standard error is a terminal on which no other program is likely to draw.
    Auto,
    /// Always; without a terminal, a line now and then.
    Yes,
    /// Never.
    No,
}

/// The form of the progress display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DisplayMode {
    /// A bar, and a line at the end.
    Bar,
    /// A line now and then.
    Lines,
    /// Only a line at the end.
    Closing,
    /// No display.
    Nothing,
}

/// The kind of file that standard output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stdout {
    Terminal,
    Pipe,
    Other,
}

impl Stdout {
    fn detect() -> Self {
        let stdout = io::stdout();
        let kind = rustix::fs::fstat(&stdout).map(|stat| FileType::from_raw_mode(stat.st_mode));
        match kind {
            Ok(FileType::Fifo | FileType::Socket) => Stdout::Pipe,
            _ if stdout.is_terminal() => Stdout::Terminal,
            _ => Stdout::Other,
        }
    }
}

/// Chooses the form of the display. `screen` says that standard error is a terminal with cursor
/// movement.
fn choose_display(
    when: ProgressMode,
    screen: bool,
    stdout: Stdout,
    report_on_stdout: bool,
) -> DisplayMode {
    match (when, screen, stdout) {
        (ProgressMode::No, ..) | (ProgressMode::Auto, false, _) => DisplayMode::Nothing,
        (ProgressMode::Yes, false, _) => DisplayMode::Lines,
        // The report goes to the same terminal: a bar would be drawn into it.
        (ProgressMode::Auto, true, Stdout::Terminal) if report_on_stdout => DisplayMode::Nothing,
        (ProgressMode::Yes, true, Stdout::Terminal) if report_on_stdout => DisplayMode::Closing,
        // The reader of the pipe may be a pager that uses the terminal.
        (ProgressMode::Auto, true, Stdout::Pipe) => DisplayMode::Nothing,
        (_, true, _) => DisplayMode::Bar,
    }
}

/// Shows the progress and the messages of one search on standard error.
pub struct Progress {
    /// Name of the program in messages.
    program: &'static str,
    how: DisplayMode,
    meter: Arc<Meter>,
    screen: Mutex<Option<Screen>>,
    /// Time at which the search began.
    start: OnceLock<Instant>,
}

impl Progress {
    /// Creates the display for a program. `report_on_stdout` says that the report goes to standard
    /// output.
    pub fn new(program: &'static str, when: ProgressMode, report_on_stdout: bool) -> Self {
        let drawable = env::var_os("TERM").is_some_and(|kind| !kind.is_empty() && kind != "dumb");
        let screen = drawable && io::stderr().is_terminal();
        let how = choose_display(when, screen, Stdout::detect(), report_on_stdout);
        Self {
            program,
            how,
            meter: Arc::default(),
            screen: Mutex::default(),
            start: OnceLock::new(),
        }
    }

    fn start(&self) -> Instant {
        *self.start.get_or_init(Instant::now)
    }

    /// Locks the screen. Code that holds the lock does not panic, and a screen is valid in any
    /// case, so poisoning is ignored.
    fn screen(&self) -> MutexGuard<'_, Option<Screen>> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Audience for Progress {
    fn program(&self) -> &str {
        self.program
    }

    /// Writes a line on standard error; the bar moves below it.
    fn print_line(&self, line: &[u8]) {
        match &*self.screen() {
            Some(screen) => screen.say(&[line, b"\n"].concat()),
            None => messages::say(line),
        }
    }

    fn begin_search(&self) {
        self.start();
    }

    fn is_watching(&self) -> bool {
        matches!(self.how, DisplayMode::Bar | DisplayMode::Lines)
    }

    fn set_query_count(&self, queries: Option<u64>) {
        self.meter.set_query_count(queries);
        if self.is_watching() {
            *self.screen() = Screen::new(self.how, &self.meter, self.start());
        }
    }

    fn skip_queries(&self, queries: u64) {
        self.meter.skip_queries(queries);
    }

    fn open_block(&self, block: u32, queries: u64) {
        self.meter.open(block, queries);
    }

    fn begin_stage(&self, stage: Stage, steps: u64) {
        self.meter.begin_stage(stage, steps);
    }

    fn add_steps(&self, more: u64) {
        self.meter.add_steps(more);
    }

    fn set_block_share(&self, block: u32, share: f64) {
        self.meter.set_block_share(block, share);
    }

    fn close_block(&self, block: u32) {
        self.meter.close(block);
    }

    /// Sets the note after the bar.
    fn show_note(&self, text: String) {
        if let Some(screen) = &*self.screen() {
            screen.note(text);
        }
    }

    /// Writes the closing line: queries, time and memory.
    fn finish(&self) {
        let screen = self.screen().take();
        let free = screen.is_none_or(Screen::finish);
        if free && self.how != DisplayMode::Nothing {
            let queries = self.meter.snapshot().finished;
            let line = closing_line(queries, self.start().elapsed(), Usage::now());
            messages::complain(&line);
        }
    }

    /// Removes the bar.
    fn abort(&self) {
        let screen = self.screen().take();
        drop(screen);
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
    fn closing_line_has_time_and_memory() {
        let usage = Usage { cpu_seconds: 3.5, peak_memory_bytes: Some(3 << 20) };
        let line = closing_line(7, Duration::from_millis(1250), usage);
        assert_eq!(line, "fleetblast: 7 queries, 1.25 s wall, 3.50 s CPU, peak memory 3.00 MiB");
        let usage = Usage { peak_memory_bytes: None, ..usage };
        assert!(closing_line(7, Duration::ZERO, usage).ends_with("CPU"));
    }

    #[test]
    fn nothing_is_drawn_into_reports_pipes_and_pagers() {
        use Stdout::{Other, Pipe, Terminal};
        for (screen, stdout, on_stdout, auto, yes) in [
            (true, Other, true, DisplayMode::Bar, DisplayMode::Bar),
            (true, Terminal, false, DisplayMode::Bar, DisplayMode::Bar),
            (true, Terminal, true, DisplayMode::Nothing, DisplayMode::Closing),
            (true, Pipe, true, DisplayMode::Nothing, DisplayMode::Bar),
            (true, Pipe, false, DisplayMode::Nothing, DisplayMode::Bar),
            (false, Other, true, DisplayMode::Nothing, DisplayMode::Lines),
            (false, Terminal, true, DisplayMode::Nothing, DisplayMode::Lines),
        ] {
            let place = (screen, stdout, on_stdout);
            assert_eq!(
                choose_display(ProgressMode::Auto, screen, stdout, on_stdout),
                auto,
                "{place:?}"
            );
            assert_eq!(
                choose_display(ProgressMode::Yes, screen, stdout, on_stdout),
                yes,
                "{place:?}"
            );
            assert_eq!(
                choose_display(ProgressMode::No, screen, stdout, on_stdout),
                DisplayMode::Nothing,
                "{place:?}"
            );
        }
    }
}

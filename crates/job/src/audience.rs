//! Receivers of the progress and the messages of a job.

use std::sync::{Mutex, PoisonError};

use fleetblast_mpi::is_first_process;

/// Receiver of the progress and the messages of a job, for a person or a log. The threads of a job
/// share it.
///
/// No method can fail or change the job. An audience that shows no progress implements only
/// [`program`](Self::program) and [`print_line`](Self::print_line).
pub trait Audience: Send + Sync {
    /// Returns the command name of the program, which warnings and errors state in brackets. It is
    /// empty if they do not name the program.
    fn program(&self) -> &str;

    /// Prints a line, given without its line end. The job may print lines at any time, also after
    /// [`finish`](Self::finish).
    fn print_line(&self, line: &[u8]);

    /// Notifies the audience that the database is open. The time of the search starts now.
    fn begin_search(&self) {}

    /// Returns whether anybody sees the progress. If not, callers may omit
    /// [`set_query_count`](Self::set_query_count) and [`show_note`](Self::show_note).
    fn is_watching(&self) -> bool {
        false
    }

    /// Sets the total number of queries; `None` if it is unknown. The audience may show the
    /// progress from now on.
    fn set_query_count(&self, _queries: Option<u64>) {}

    /// Counts queries as finished that an earlier run has finished.
    fn skip_queries(&self, _queries: u64) {}

    /// Notifies the audience that work on a block with this number of queries begins.
    fn open_block(&self, _block: u32, _queries: u64) {}

    /// Notifies the audience that a stage with this number of steps begins in the only open block.
    /// Jobs on ranks call [`set_block_share`](Self::set_block_share) instead.
    fn begin_stage(&self, _stage: Stage, _steps: u64) {}

    /// Counts further finished steps of the current stage.
    fn add_steps(&self, _more: u64) {}

    /// Sets the finished share of a block, from 0 to 1. The true share may be larger.
    fn set_block_share(&self, _block: u32, _share: f64) {}

    /// Notifies the audience that a block and its report are finished.
    fn close_block(&self, _block: u32) {}

    /// Shows a note beside the progress, until the next note replaces it.
    fn show_note(&self, _text: String) {}

    /// Notifies the audience that the job is finished.
    fn finish(&self) {}

    /// Notifies the audience that the job ends early. The next message, if any, gives the reason.
    fn abort(&self) {}

    /// Prints a message.
    fn print_message(&self, message: &str) {
        self.print_line(message.as_bytes());
    }

    /// Prints a warning in the form of BLAST+, even if this rank is not the first one: only this
    /// rank knows the reason for the warning.
    fn warn_from_rank(&self, text: &[u8]) {
        self.print_line(&[begin_message("Warning", self.program()).as_bytes(), text].concat());
    }

    /// Prints a warning in the form of BLAST+ that all ranks may give. Only the first rank prints
    /// it.
    fn warn(&self, text: &str) {
        self.print_common_line(&(begin_message("Warning", self.program()) + text));
    }

    /// Works like [`warn`](Self::warn), for a warning before which BLAST+ prints a code, such as
    /// `1306.10`.
    fn warn_with_code(&self, code: &str, text: &str) {
        let program = match self.program() {
            "" => String::new(),
            program => format!("[{program}] "),
        };
        self.print_common_line(&format!("Warning: ({code}) {program}{text}"));
    }

    /// Prints a line that all ranks may print. Only the first rank prints it.
    fn print_common_line(&self, line: &str) {
        if is_first_process() {
            self.print_line(line.as_bytes());
        }
    }

    /// Prints an error that does not end the search, in the form of BLAST+. Only the first rank
    /// prints it.
    fn print_error(&self, text: &str) {
        if is_first_process() {
            self.print_message(&(begin_message("Error", self.program()) + text));
        }
    }
}

/// Returns the text before a message: its kind, and the program in brackets if it has a name.
fn begin_message(kind: &str, program: &str) -> String {
    match program {
        "" => format!("{kind}: "),
        program => format!("{kind}: [{program}] "),
    }
}

/// Audience that ignores the progress and all messages.
pub(crate) struct SilentAudience;

impl Audience for SilentAudience {
    fn program(&self) -> &str {
        ""
    }

    fn print_line(&self, _: &[u8]) {}
}

/// Audience that passes messages to another audience, and keeps a copy of each.
pub(crate) struct WarningRecorder<'a> {
    audience: &'a dyn Audience,
    warnings: Mutex<Vec<String>>,
}

impl<'a> WarningRecorder<'a> {
    /// Creates a recorder that passes messages to `audience`.
    pub fn new(audience: &'a dyn Audience) -> Self {
        WarningRecorder { audience, warnings: Mutex::default() }
    }

    /// Returns all messages received, also those that only the first process has printed.
    pub fn into_warnings(self) -> Vec<String> {
        self.warnings.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, line: &[u8]) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.push(String::from_utf8_lossy(line).into_owned());
    }
}

impl Audience for WarningRecorder<'_> {
    fn program(&self) -> &str {
        self.audience.program()
    }

    fn print_line(&self, line: &[u8]) {
        self.record(line);
        self.audience.print_line(line);
    }

    fn print_common_line(&self, line: &str) {
        if is_first_process() {
            self.print_line(line.as_bytes());
        } else {
            // Only the first process prints the line.
            self.record(line.as_bytes());
        }
    }
}

/// A stage of the work on a block of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Preliminary search of the database.
    Search,
    /// Traceback of chosen hits.
    Align,
    /// Formatting the report.
    Report,
}

impl Stage {
    /// Returns the approximate shares of a block's time that have passed at the start and at the
    /// end of this stage.
    fn span(self) -> (f64, f64) {
        match self {
            Stage::Search => (0.0, 0.75),
            Stage::Align => (0.75, 0.95),
            Stage::Report => (0.95, 1.0),
        }
    }

    /// Returns the share of a block that is finished after `done` of `all` steps of this stage.
    pub fn share(self, done: u64, all: u64) -> f64 {
        let (from, to) = self.span();
        match all {
            0 => from,
            all => from + (to - from) * (done.min(all) as f64 / all as f64),
        }
    }
}

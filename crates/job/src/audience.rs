//! Who is told what a job does.

use fleetblast_mpi::speaks_for_all;

/// Who hears how far a job is and what there is to say of it, such as a person at a terminal. Threads of the job share it.
///
/// Telling is a courtesy: it cannot fail, and changes nothing of the job. Who does not show how far it is hears what is said alone.
pub trait Audience: Send + Sync {
    /// What is typed to run the program: warnings and errors name it so.
    fn program(&self) -> &str;

    /// A line for people or logs, without its end. It may come at any time, also after the end.
    fn say(&self, line: &[u8]);

    /// What is searched has been opened: the time of the search counts from now.
    fn begin(&self) {}

    /// Whether anybody is shown how far the job is. If not, nobody need find out for [`expect`](Self::expect) and
    /// [`note`](Self::note).
    fn is_watching(&self) -> bool {
        false
    }

    /// So many queries are to come in all, if that is known; from now on it may be shown how far the job is.
    fn expect(&self, _queries: Option<u64>) {}

    /// So many queries were finished by an earlier run.
    fn skip(&self, _queries: u64) {}

    /// Work on a block of so many queries begins.
    fn open(&self, _block: u32, _queries: u64) {}

    /// The only block under way begins a stage of so many steps.
    fn stage(&self, _stage: Stage, _steps: u64) {}

    /// So many more steps of the stage are done.
    fn step(&self, _more: u64) {}

    /// So much of a block is done at least, of 1.
    fn reach(&self, _block: u32, _share: f64) {}

    /// The report of a block is made.
    fn close(&self, _block: u32) {}

    /// Something to be shown behind how far the job is, until there is something else.
    fn note(&self, _text: String) {}

    /// Everything is done.
    fn finish(&self) {}

    /// The job ends before everything is done: what ended it is said next, if anything.
    fn leave(&self) {}

    /// One message.
    fn complain(&self, message: &str) {
        self.say(message.as_bytes());
    }

    /// A warning as BLAST+ prints it, of what only this rank knows.
    fn warn_alone(&self, text: &[u8]) {
        self.say(&[b"Warning: [", self.program().as_bytes(), b"] ", text].concat());
    }

    /// A warning as BLAST+ prints it. Of several ranks, all of which find the same to warn of, the first tells.
    fn warn(&self, text: &str) {
        if speaks_for_all() {
            self.warn_alone(text.as_bytes());
        }
    }

    /// An error that does not end the search, as BLAST+ prints it, told once like a warning.
    fn blame(&self, text: &str) {
        if speaks_for_all() {
            self.complain(&format!("Error: [{}] {text}", self.program()));
        }
    }
}

/// Hears nothing.
pub(crate) struct Nobody;

impl Audience for Nobody {
    fn program(&self) -> &str {
        ""
    }

    fn say(&self, _: &[u8]) {}
}

/// What is done with a block of queries, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Preliminary search of the database.
    Search,
    /// Alignments of what was chosen.
    Align,
    /// Making the report.
    Report,
}

impl Stage {
    /// The part of the block's time that is over before and after it, about.
    fn span(self) -> (f64, f64) {
        match self {
            Stage::Search => (0.0, 0.75),
            Stage::Align => (0.75, 0.95),
            Stage::Report => (0.95, 1.0),
        }
    }

    /// The share of a block that is done if `done` of `all` steps of this stage are.
    pub fn share(self, done: u64, all: u64) -> f64 {
        let (from, to) = self.span();
        match all {
            0 => from,
            all => from + (to - from) * (done.min(all) as f64 / all as f64),
        }
    }
}

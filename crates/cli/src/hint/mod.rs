//! Words to people at a terminal, beside BLAST+'s messages: what programs read of those stays as BLAST+ has it.
//!
//! Hints are written if standard error is a terminal, and by one of several processes only.

mod columns;
mod letters;

use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::path::Path;

use fleetblast_db::SequenceKind;
use fleetblast_job::error::{Error, exit};
use fleetblast_job::plan::{Plan, Report, Source, Subjects};
use fleetblast_job::threads::ThreadSource;

use crate::dbcheck;
use crate::messages::{complain, somebody_reads};
use crate::options::search::database::SUBJECT;
use crate::options::search::program::ProgramSpec;
use crate::threads::ignored;

/// Says what is odd about a search that can be made all the same, and what it waits for.
/// `query` is the option that names the queries.
pub fn before_search(program: &ProgramSpec, plan: &Plan, query: &str) {
    if !somebody_reads() {
        return;
    }
    unknown_columns(&plan.report);
    ignored_variables(plan.threads.source);
    let name = program.name;
    let taken = |kind| format!("{name} takes its letters for {}", words(kind)[1]);
    if let Source::File(path) = &plan.query
        && plan.start().is_none()
    {
        wrong_kind(path, "the first query", program.queries, &taken(program.queries));
    }
    if let Subjects::Fasta { source: Source::File(path), .. } = &plan.subjects {
        wrong_kind(path, "the first subject", program.subjects, &taken(program.subjects));
    }
    // A file that a search begins with was read when it was planned.
    if plan.query == Source::Stdin && plan.start().is_none() {
        before_input(query, "the queries");
    }
    if matches!(plan.subjects, Subjects::Fasta { source: Source::Stdin, .. }) {
        before_input(SUBJECT.name(), "the subjects");
    }
}

/// Says that the program waits for what somebody types, if it reads a terminal.
pub fn before_input(option: &str, what: &str) {
    if somebody_reads() && io::stdin().is_terminal() {
        complain(&format!(
            "Hint: waiting for {what} on standard input, up to Ctrl-D; -{option} FILE reads a file."
        ));
    }
}

/// The same where the file of an option is standard input.
pub fn before_reading(option: &str, file: &OsStr, what: &str) {
    if file == "-" {
        before_input(option, what);
    }
}

/// Says that a file of FASTA seems to be of the other kind than wanted, and what is done with it.
pub fn wrong_kind(path: &Path, which: &str, wanted: SequenceKind, done: &str) {
    if somebody_reads() && letters::of_file(path).is_some_and(|kind| kind != wanted) {
        let [looks, _] = words(other(wanted));
        complain(&format!("Hint: {which} looks like {looks}; {done}."));
    }
}

/// Says which columns of a report there are not.
pub fn unknown_columns(report: &Report) {
    if somebody_reads() {
        columns::unknown(report).iter().for_each(|hint| complain(hint));
    }
}

/// Says which variables on the number of threads are ignored, where they would have counted.
fn ignored_variables(source: ThreadSource) {
    if matches!(source, ThreadSource::NumThreads | ThreadSource::FleetblastThreads) {
        return;
    }
    for (name, value) in ignored(&|name| std::env::var_os(name)) {
        complain(&format!("Hint: {name} is ignored: '{value}' is not a number of threads."));
    }
}

/// The error, with what may help against it after its message.
pub fn after_error(program: &ProgramSpec, db: &str, mut error: Error) -> Error {
    let missing = error.message.contains("No alias or index file found");
    if error.exit_code != exit::DATABASE || !missing || !somebody_reads() {
        return error;
    }
    let found = other(program.subjects);
    error.message += &match dbcheck::open(db, Some(found)) {
        Ok(_) => {
            let ([_, has], [_, wants], name) = (words(found), words(program.subjects), program.name);
            format!("\nHint: {db} is a database of {has}; {name} searches those of {wants}.")
        }
        Err(_) => "\nHint: 'fleetblast blastdbcmd -list DIRECTORY' lists databases, and 'fleetblast makeblastdb' \
                   makes them; BLASTDB names directories to look in."
            .to_owned(),
    };
    error
}

fn other(kind: SequenceKind) -> SequenceKind {
    match kind {
        SequenceKind::Protein => SequenceKind::Nucleotide,
        _ => SequenceKind::Protein,
    }
}

/// What a sequence of that kind looks like, and what it consists of.
fn words(kind: SequenceKind) -> [&'static str; 2] {
    match kind {
        SequenceKind::Protein => ["a protein", "amino acids"],
        _ => ["nucleotides", "nucleotides"],
    }
}

//! Hints for people at a terminal, beside BLAST+'s messages: programs that read BLAST+'s messages
//! see no difference.
//!
//! Hints are written only if standard error is a terminal, and by only one of several processes.

mod columns;
mod letters;

use std::ffi::OsStr;
use std::io::{self, IsTerminal};
use std::path::Path;

use fleetblast_db::SequenceKind;
use fleetblast_job::error::{Error, ErrorKind};
use fleetblast_job::plan::{Plan, Report, Source, Subjects};
use fleetblast_job::threads::ThreadSource;

use crate::dbcheck;
use crate::messages::{complain, somebody_reads};
use crate::options::search::database::SUBJECT;
use crate::options::search::program::ProgramSpec;
use crate::threads::ignored_variables;

/// Writes hints about a search that is valid, but perhaps not the intended one, and about input for
/// which the search waits. `query` is the option that names the queries.
pub fn before_search(program: &ProgramSpec, plan: &Plan, query: &str) {
    if !somebody_reads() {
        return;
    }
    unknown_columns(&plan.report);
    hint_ignored_variables(plan.threads.source);
    hint_used_threads(plan);
    let name = program.name();
    let taken = |kind| format!("{name} takes its letters for {}", describe_kind(kind)[1]);
    if let Source::File(path) = &plan.query
        && plan.initial_pssm.is_none()
    {
        wrong_kind(path, "the first query", program.queries(), &taken(program.queries()));
    }
    if let Subjects::Fasta { source: Source::File(path), .. } = &plan.subjects {
        wrong_kind(path, "the first subject", program.subjects(), &taken(program.subjects()));
    }
    // A search that starts with a PSSM reads no queries; planning has read the file of the PSSM.
    if plan.query == Source::Stdin && plan.initial_pssm.is_none() {
        before_input(query, "the queries");
    }
    if matches!(plan.subjects, Subjects::Fasta { source: Source::Stdin, .. }) {
        before_input(SUBJECT.name(), "the subjects");
    }
}

/// Writes a hint that `-num_threads` counts with `-subject`, unlike BLAST+'s warning says.
fn hint_used_threads(plan: &Plan) {
    let count = plan.threads.count;
    let is_typed = plan.threads.source == ThreadSource::NumThreads;
    if matches!(plan.subjects, Subjects::Fasta { .. }) && is_typed && count > 1 {
        complain(&format!("Hint: this program uses {count} threads with -subject, too."));
    }
}

/// Writes a hint that the program waits for typed input, if standard input is a terminal.
pub fn before_input(option: &str, what: &str) {
    if somebody_reads() && io::stdin().is_terminal() {
        complain(&format!(
            "Hint: waiting for {what} on standard input, up to Ctrl-D; -{option} FILE reads a file."
        ));
    }
}

/// Writes a hint that the program waits for typed input, if `file` is `-` and standard input is a
/// terminal.
pub fn before_reading(option: &str, file: &OsStr, what: &str) {
    if file == "-" {
        before_input(option, what);
    }
}

/// Writes a hint about lines of a list that are dropped because they are not `what`. `lines` are
/// their numbers.
pub fn invalid_lines(lines: &[usize], what: &str) {
    if let Some(first) = lines.first().filter(|_| somebody_reads()) {
        let count = lines.len();
        complain(&format!(
            "Hint: {count} lines are no {what} and are left out, first line {first}."
        ));
    }
}

/// Writes a hint that a FASTA file seems to have the other type of sequence, and what the program
/// does with it.
pub fn wrong_kind(path: &Path, which: &str, wanted: SequenceKind, done: &str) {
    if somebody_reads() && letters::guess_kind(path).is_some_and(|kind| kind != wanted) {
        let [looks, _] = describe_kind(other_kind(wanted));
        complain(&format!("Hint: {which} looks like {looks}; {done}."));
    }
}

/// Writes hints about unknown columns of a report.
pub fn unknown_columns(report: &Report) {
    if somebody_reads() {
        columns::unknown(report).iter().for_each(|hint| complain(hint));
    }
}

/// Writes hints about environment variables for the number of threads that have no effect.
fn hint_ignored_variables(source: ThreadSource) {
    if matches!(source, ThreadSource::NumThreads | ThreadSource::FleetblastThreads) {
        return;
    }
    for (name, value) in ignored_variables(&|name| std::env::var_os(name)) {
        complain(&format!("Hint: {name} is ignored: '{value}' is not a number of threads."));
    }
}

/// Appends advice to the message of an error about a missing database; returns other errors
/// unchanged.
pub fn with_hint(program: &ProgramSpec, db: &str, mut error: Error) -> Error {
    if error.kind != ErrorKind::MissingDatabase || !somebody_reads() {
        return error;
    }
    let found = other_kind(program.subjects());
    error.message += &match dbcheck::open(db, Some(found)) {
        Ok(_) => {
            let ([_, has], [_, wants], name) = (describe_kind(found), describe_kind(program.subjects()), program.name());
            format!("\nHint: {db} is a database of {has}; {name} searches those of {wants}.")
        }
        Err(_) => "\nHint: 'fleetblast blastdbcmd -list DIRECTORY' lists databases, and 'fleetblast makeblastdb' \
                   makes them; BLASTDB names directories to look in."
            .to_owned(),
    };
    error
}

fn other_kind(kind: SequenceKind) -> SequenceKind {
    match kind {
        SequenceKind::Protein => SequenceKind::Nucleotide,
        _ => SequenceKind::Protein,
    }
}

/// Returns two names: for a sequence of this type, and for its letters.
fn describe_kind(kind: SequenceKind) -> [&'static str; 2] {
    match kind {
        SequenceKind::Protein => ["a protein", "amino acids"],
        _ => ["nucleotides", "nucleotides"],
    }
}

//! What is searched: databases, or the sequences of a FASTA file.

use std::ops::Range;
use std::path::Path;

use fleetblast_db::memory::Record;
use fleetblast_db::{Database, DbError, SearchPath, SequenceKind};
use fleetblast_engine::params::DatabaseTotals;
use fleetblast_report::error::Cause;
use fleetblast_report::model::{DatabaseParagraph, DatabaseSummary, SubjectSource};
use fleetblast_seq::fasta::{self, FastaError};
use fleetblast_seq::input;

use crate::error::{CliError, exit};
use crate::plan::{Plan, Source, Subjects};

/// Shortest subject that BLAST+ assumes in a database (spec 5.1).
const MIN_SUBJECT_LENGTH: i32 = 10;

/// An opened database, or subjects held in memory.
pub struct Target {
    /// What is searched: for `-subject_loc` only parts of the subjects.
    pub searched: Database,
    /// The whole subjects, for reports.
    whole: Database,
    /// Statistics.
    pub totals: DatabaseTotals,
    /// For reports.
    pub summary: DatabaseSummary,
}

impl Target {
    /// Opens what the plan names.
    pub fn open(plan: &Plan) -> Result<Target, CliError> {
        match &plan.subjects {
            Subjects::Database(names) => open_database(names, plan),
            Subjects::Fasta { source, name, range } => {
                open_fasta(source, name, range.as_ref(), plan)
            }
        }
    }
}

impl SubjectSource for Target {
    fn residues(&self, oid: u32) -> &[u8] {
        self.whole.residues_of(oid)
    }

    fn deflines(&self, oid: u32) -> Result<Vec<fleetblast_db::Defline>, Cause> {
        self.whole.deflines(oid).map_err(Into::into)
    }
}

fn open_database(names: &str, plan: &Plan) -> Result<Target, CliError> {
    let search = SearchPath::from_environment().map_err(|error| failure(&error))?;
    let database =
        Database::open(names, SequenceKind::Protein, &search).map_err(|error| failure(&error))?;
    Ok(Target {
        totals: totals(&database, plan, MIN_SUBJECT_LENGTH),
        summary: DatabaseSummary {
            label: names.as_bytes().to_vec(),
            paragraphs: paragraphs(&database),
            is_subject: false,
            subject_offset: 0,
        },
        whole: database.clone(),
        searched: database,
    })
}

fn open_fasta(
    source: &Source,
    name: &str,
    range: Option<&Range<usize>>,
    plan: &Plan,
) -> Result<Target, CliError> {
    let title = format!("User specified sequence set (Input: {name}).");
    let records = read_subjects(source, plan)?;
    let whole = from_records(title.as_bytes(), records.clone())?;
    let searched = match range {
        None => whole.clone(),
        Some(range) => {
            let cut =
                records.into_iter().map(|record| cut(record, range)).collect::<Result<_, _>>()?;
            from_records(title.as_bytes(), cut)?
        }
    };
    let lengths = (0..searched.oid_count()).map(|oid| searched.length_of(oid) as i32);
    let shortest = lengths.min().unwrap_or(0).max(MIN_SUBJECT_LENGTH);
    Ok(Target {
        totals: totals(&searched, plan, shortest),
        summary: DatabaseSummary {
            label: title.trim_end_matches('.').as_bytes().to_vec(),
            paragraphs: paragraphs(&searched),
            is_subject: true,
            subject_offset: range.map_or(0, |range| range.start as u32),
        },
        whole,
        searched,
    })
}

fn from_records(title: &[u8], records: Vec<Record>) -> Result<Database, CliError> {
    Database::from_records(title, records).map_err(|error| failure(&error))
}

fn read_subjects(source: &Source, plan: &Plan) -> Result<Vec<Record>, CliError> {
    let mut reader = open_reader(source, plan.parse_deflines)?;
    let mut records = Vec::new();
    while let Some(record) = reader.next_record().map_err(|error| fasta_failure(&error))? {
        for warning in &record.warnings {
            super::say(warning.to_string().as_bytes());
        }
        let number = records.len() as u32 + 1;
        records.push(if record.ids.is_empty() {
            Record::subject(number, &record.title, record.residues)
        } else {
            Record::identified(record.ids, record.title, record.residues)
        });
    }
    if records.is_empty() {
        return Err(CliError::engine("Empty CBlastQueryVector"));
    }
    Ok(records)
}

/// The part of a subject that `-subject_loc` asks for.
fn cut(mut record: Record, range: &Range<usize>) -> Result<Record, CliError> {
    let end = range.end.min(record.residues.len());
    if range.start >= end {
        return Err(CliError::query_options(
            "Invalid from coordinate (greater than sequence length)",
        ));
    }
    record.residues = record.residues[range.start..end].to_vec();
    Ok(record)
}

/// A FASTA reader for a file or standard input.
pub fn open_reader(
    source: &Source,
    parse_deflines: bool,
) -> Result<fasta::Reader<Box<dyn std::io::BufRead + Send>>, CliError> {
    let path = match source {
        Source::Stdin => Path::new("-"),
        Source::File(path) => path,
    };
    let input = input::open(path).map_err(|error| CliError::new(exit::INPUT, error.to_string()))?;
    Ok(fasta::Reader::new(input, path, fasta::Options { parse_deflines }))
}

/// Input that is not usable FASTA, in BLAST+'s words where it has some, with file and line.
pub fn fasta_failure(error: &FastaError) -> CliError {
    if let FastaError::Invalid { warnings, .. } = error {
        for warning in warnings {
            super::say(warning.to_string().as_bytes());
        }
    }
    match error.blast_message() {
        Some(message) => CliError::query(format_args!("{message}\n({error})")),
        None => CliError::query(error),
    }
}

/// A database that cannot be used.
pub fn failure(error: &DbError) -> CliError {
    CliError::new(error.exit_code(), error.report())
}

fn totals(database: &Database, plan: &Plan, min_length: i32) -> DatabaseTotals {
    DatabaseTotals {
        residues: plan.dbsize.unwrap_or(database.stats_residues() as i64),
        sequences: database.stats_sequences() as i64,
        min_length,
    }
}

fn paragraphs(database: &Database) -> Vec<DatabaseParagraph> {
    database
        .infos()
        .iter()
        .map(|info| DatabaseParagraph {
            title: info.title.clone(),
            date: info.date.clone().into_bytes(),
            sequences: info.sequences as i64,
            residues: info.residues as i64,
        })
        .collect()
}

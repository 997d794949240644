//! Subjects of a FASTA file, held in memory.

use std::ops::Range;

use fleetblast_db::memory::SubjectRecord;
use fleetblast_db::{Database, SequenceKind};
use fleetblast_report::model::DatabaseSummary;
use fleetblast_seq::alphabet;
use fleetblast_seq::fasta::{FastaError, FastaErrorKind};

use super::totals::MIN_SUBJECT_LENGTH;
use super::{SubjectDatabase, paragraphs};
use crate::audience::Audience;
use crate::error::{Error, NO_SEQUENCES};
use crate::fasta::{empty_subject_message, fasta_failure, open_input, path, reader, sequence_name};
use crate::plan::{Plan, Source};

/// BLAST+'s name for the sequences of a FASTA file.
const SUBJECTS_NAME: &str = "User specified sequence set";

pub(super) fn open_fasta(
    source: &Source,
    name: &str,
    range: Option<&Range<usize>>,
    plan: &Plan,
    audience: &dyn Audience,
) -> Result<SubjectDatabase, Error> {
    // The reports of psiblast do not state the file's name (`CBlastFormat`'s second constructor,
    // blast_format.cpp).
    let name = if plan.iteration.is_some() { "" } else { name };
    let subjects = read_subjects(source, range, plan, audience)?;
    hold_subjects(subjects, name, range, plan)
}

/// Creates the database of subjects that are held in memory. `name` is the name of their file, or
/// empty if reports do not state it.
pub(super) fn hold_subjects(
    mut subjects: Vec<FastaSubject>,
    name: &str,
    range: Option<&Range<usize>>,
    plan: &Plan,
) -> Result<SubjectDatabase, Error> {
    let label = format!("{SUBJECTS_NAME} (Input: {name})");
    let title = if name.is_empty() { format!("{SUBJECTS_NAME}.") } else { format!("{label}.") };
    let deflines = subjects.iter_mut().map(|subject| std::mem::take(&mut subject.defline));
    let fasta_deflines = deflines.collect();
    let whole = subjects.iter().map(|subject| subject.record.clone());
    let kind = plan.subject_kind;
    let whole = Database::from_records(title.as_bytes(), kind, whole)?;
    let parts: Vec<SubjectRecord> = subjects
        .iter()
        .map(|subject| subject.searched_part(kind, range))
        .collect::<Result<_, _>>()?;
    let searched = Database::from_records(title.as_bytes(), kind, parts)?;
    let (lower_case, masks) = if plan.params.common().lcase_masking {
        let (whole, parts): (Vec<_>, Vec<_>) =
            subjects.into_iter().map(|subject| subject.masks(range)).unzip();
        (whole.into_iter().collect(), parts.into_iter().collect())
    } else {
        Default::default()
    };
    let lengths = (0..searched.oid_count()).map(|oid| searched.length_of(oid) as i32);
    let shortest = lengths.min().unwrap_or(0).max(MIN_SUBJECT_LENGTH);
    let summary = DatabaseSummary {
        kind: searched.kind(),
        label: label.into_bytes(),
        paragraphs: paragraphs(&searched, &[]),
        is_subject: true,
    };
    Ok(SubjectDatabase {
        searched_start: range.map_or(0, |range| range.start as u32),
        fasta_deflines,
        lower_case,
        masks,
        ..SubjectDatabase::plain(whole, searched, shortest, summary, plan)
    })
}

/// A sequence of `-subject`.
pub(super) struct FastaSubject {
    pub(super) record: SubjectRecord,
    /// The definition line as read.
    pub(super) defline: Vec<u8>,
    /// The ranges of letters in lower case.
    pub(super) lower_case: Vec<Range<u32>>,
}

impl FastaSubject {
    /// Returns the searched part in the form in which BLAST+ loads it. In proteins, `X` replaces
    /// `O`, as in queries.
    fn searched_part(
        &self,
        kind: SequenceKind,
        range: Option<&Range<usize>>,
    ) -> Result<SubjectRecord, Error> {
        let residues = &self.record.residues;
        let part = match range {
            None => 0..residues.len(),
            Some(range) if range.start > residues.len() => {
                return Err(Error::query_options(
                    "Invalid from coordinate (greater than sequence length)",
                ));
            }
            Some(range) => range.start..range.end.min(residues.len()),
        };
        let mut residues = residues[part].to_vec();
        if kind == SequenceKind::Protein {
            let replaced = residues.iter_mut().filter(|code| **code == alphabet::O);
            replaced.for_each(|code| *code = alphabet::X);
        }
        Ok(SubjectRecord { deflines: self.record.deflines.clone(), residues })
    }

    /// Returns the lower-case ranges of the whole sequence, and those of the searched part. The
    /// ranges of the searched part omit their last residue, which BLAST+ does not mask
    /// (`s_SeqLoc2MaskedSubjRanges`, `blast_setup_cxx.cpp`). A range of a single residue only
    /// prevents words across its start.
    fn masks(self, range: Option<&Range<usize>>) -> (Vec<Range<u32>>, Vec<Range<u32>>) {
        let from = range.map_or(0, |range| range.start as u32);
        let to = range.map_or(u32::MAX, |range| range.end as u32);
        let part = |run: &Range<u32>| run.start.max(from)..run.end.min(to);
        let inside = self.lower_case.iter().map(part).filter(|run| run.start < run.end);
        let searched = inside.map(|run| run.start - from..run.end - 1 - from).collect();
        (self.lower_case, searched)
    }
}

/// Converts an error of the FASTA reader of subjects. BLAST+ has another message if the input does
/// not start with a definition line.
fn fasta_error(error: &FastaError, audience: &dyn Audience) -> Error {
    match error {
        FastaError::Invalid { line, problem: FastaErrorKind::NoDefline, .. } => {
            let what = format!("Query input doesn't start with a defline or comment, line {line}");
            let mut failure = Error::query_options(what);
            failure.message.push_str(&format!("\n({error})"));
            failure
        }
        _ => fasta_failure(error, audience),
    }
}

fn read_subjects(
    source: &Source,
    range: Option<&Range<usize>>,
    plan: &Plan,
    audience: &dyn Audience,
) -> Result<Vec<FastaSubject>, Error> {
    let (input, _) = open_input(source, audience).map_err(|error| match path(source).is_dir() {
        // BLAST+ treats a directory as an empty file.
        true => Error::engine(format_args!("{NO_SEQUENCES}\n({error})")),
        false => error,
    })?;
    let mut reader = reader(input, source, plan.subject_kind, plan);
    let (mut subjects, mut unnamed) = (Vec::new(), 0);
    let failed = |error| fasta_error(&error, audience);
    while let Some(record) = reader.next_record().map_err(failed)? {
        for warning in &record.warnings {
            audience.print_message(&warning.message_for(audience.program()));
        }
        unnamed += u32::from(record.ids.is_empty());
        // The searched part may begin at the end of the sequence; beyond that is an error.
        if record.residues.len() == range.map_or(0, |range| range.start) {
            let name = sequence_name(&record.ids, "Subject", unnamed as usize);
            audience.warn_from_rank(&empty_subject_message(&name, &record.title));
        }
        let (lower_case, defline) = (record.lower_case, record.defline);
        let record = if record.ids.is_empty() {
            SubjectRecord::unparsed(unnamed, &record.title, record.residues)
        } else {
            SubjectRecord::with_ids(record.ids, record.title, record.residues)
        };
        subjects.push(FastaSubject { record, defline, lower_case });
    }
    if subjects.is_empty() {
        return Err(Error::engine(NO_SEQUENCES));
    }
    Ok(subjects)
}

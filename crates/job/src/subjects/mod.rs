//! What is searched: databases, or the sequences of a FASTA file.

mod fingerprint;
mod letters;
mod masks;

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_db::memory::Record;
use fleetblast_db::partition::VolumeFile;
use fleetblast_db::restrict::Visibility;
use fleetblast_db::{
    Database, DbError, OddHeader, SearchPath, SequenceKind, TaxonNames, TaxonomyNames,
};
use fleetblast_engine::params::DatabaseTotals;
use fleetblast_engine::subjects::Masks;
use fleetblast_report::columns::Columns;
use fleetblast_report::error::Cause;
use fleetblast_report::locus::Extent;
use fleetblast_report::model::{DatabaseParagraph, DatabaseSummary, SubjectSource};
use fleetblast_seq::alphabet;
use fleetblast_seq::fasta::{FastaError, Problem};
use fleetblast_seq::frame::Frame;

pub use self::letters::{Letters, Stored};
use self::masks::SubjectMasks;
use crate::audience::Audience;
use crate::error::{Error, NO_SEQUENCES};
use crate::fasta::{fasta_failure, message_name, open_input, path, reader};
use crate::plan::{Plan, Source, Subjects};

/// Shortest subject that BLAST+ assumes in a database (rules 5.1).
const MIN_SUBJECT_LENGTH: i32 = 10;

/// An opened database, or subjects held in memory.
pub struct Target {
    /// What is searched: for `-subject_loc` only parts of the subjects.
    pub searched: Database,
    /// The whole subjects, for reports.
    whole: Database,
    /// Lower-case stretches of each whole subject, with `-subject` and `-lcase_masking`.
    lower_case: SubjectMasks,
    /// The same of what is searched, or stored masks.
    masks: SubjectMasks,
    /// The masks are as good as absent; otherwise only no words are looked for there.
    has_hard_masks: bool,
    /// Statistics.
    pub totals: DatabaseTotals,
    /// The user listed what to search.
    is_listed: bool,
    /// A list leaves nothing of the database.
    pub is_database_empty: bool,
    /// Proteins are aligned without gaps, which BLAST+ does without a look at their definition
    /// lines.
    aligns_unseen: bool,
    /// Where the searched parts of subjects begin (`-subject_loc`), from 0.
    part_start: u32,
    /// For reports.
    pub summary: DatabaseSummary,
    /// The names of taxa, if reports show them.
    pub taxonomy: TaxonomyNames,
}

impl Target {
    /// Opens what the plan names; what is odd about it is told.
    pub fn open(plan: &Plan, audience: &dyn Audience) -> Result<Target, Error> {
        let target = match &plan.subjects {
            Subjects::Database(names) => open_database(names, plan, audience)?,
            Subjects::Fasta { source, name, range } => {
                open_fasta(source, name, range.as_ref(), plan, audience)?
            }
        };
        let is_protein = target.searched.kind() == SequenceKind::Protein;
        let aligns_unseen = is_protein && plan.params.common().ungapped;
        Ok(Target { taxonomy: open_taxonomy(plan, audience)?, aligns_unseen, ..target })
    }

    /// Letters of all that reports call the database.
    pub fn letters(&self) -> i64 {
        self.summary.paragraphs.iter().map(|paragraph| paragraph.residues).sum()
    }

    /// What is odd about the definition lines that this process has read.
    pub fn odd_headers(&self) -> Vec<OddHeader> {
        self.whole.odd_headers()
    }

    /// Whether the sequences are in files of volumes; otherwise this process has read them.
    pub fn is_on_disk(&self) -> bool {
        self.searched.volume_file(0, VolumeFile::Sequences).is_some()
    }

    /// A whole subject.
    fn stored(&self, oid: u32) -> Option<Stored<'_>> {
        if self.whole.kind() == SequenceKind::Nucleotide {
            return self.whole.bases_of(oid).ok().map(Stored::Bases);
        }
        Some(Stored::Residues(self.whole.residues_of(oid)))
    }

    /// What becomes of hits to a subject, which a restriction may hide.
    ///
    /// # Errors
    /// A damaged database.
    pub fn visibility(&self, oid: u32) -> Result<Visibility, DbError> {
        match self.searched.visibility(oid)? {
            Visibility::Excluded if self.aligns_unseen => Ok(Visibility::Unreported),
            visibility => Ok(visibility),
        }
    }

    /// Whether hits to a subject are of this visibility. Damage is an error later, when they are
    /// reported.
    pub fn is(&self, oid: u32, wanted: Visibility) -> bool {
        self.visibility(oid).is_ok_and(|visibility| visibility == wanted)
    }

    /// What is masked of a sequence that is searched.
    pub fn masked(&self, oid: u32) -> Masks<'_> {
        let stretches = self.masks.of(oid);
        // Stored masks are those of all sequences, but each of these has its own lower case.
        let is_without = self.masks.is_empty() || self.summary.is_subject && stretches.is_empty();
        match self.has_hard_masks {
            _ if is_without => Masks::None,
            true => Masks::Hard(stretches),
            false => Masks::Soft(stretches),
        }
    }
}

impl SubjectSource for Target {
    fn extent(&self, oid: u32) -> Extent {
        let searched = self.part_start..self.part_start + self.searched.length_of(oid);
        Extent { length: self.whole.length_of(oid), searched }
    }

    fn view(&self, oid: u32, frame: Frame, read: Range<u32>) -> Option<Cow<'_, [u8]>> {
        Letters { stored: self.stored(oid)?, masks: Masks::None }.view(frame, read)
    }

    fn aligned(&self, oid: u32, frame: Frame, read: Range<u32>) -> Option<Cow<'_, [u8]>> {
        Letters { stored: self.stored(oid)?, masks: self.masked(oid) }.view(frame, read)
    }

    fn deflines(&self, oid: u32) -> Result<Vec<fleetblast_db::Defline>, Cause> {
        self.whole.deflines(oid).map_err(Into::into)
    }

    fn taxon(&self, taxid: i64) -> Result<Option<TaxonNames>, Cause> {
        self.taxonomy.names(taxid).map_err(Into::into)
    }

    fn is_listed(&self) -> bool {
        self.is_listed
    }

    fn masks(&self, oid: u32) -> &[Range<u32>] {
        let shown = if self.summary.is_subject { &self.lower_case } else { &self.masks };
        shown.of(oid)
    }
}

/// Opens the taxonomy database, if the report may show names of taxa. One that cannot be used does
/// not keep BLAST+ from searching, so it only brings warnings.
fn open_taxonomy(plan: &Plan, audience: &dyn Audience) -> Result<TaxonomyNames, Error> {
    let format = plan.report.options(plan.parse_deflines).format;
    let shows_columns = format.columns().is_some_and(Columns::have_taxon_names);
    let has_taxids = matches!(plan.subjects, Subjects::Database(_));
    let shows_titles = has_taxids && format.shows_taxa();
    if !shows_columns && !shows_titles {
        return Ok(TaxonomyNames::default());
    }
    let names = TaxonomyNames::find(&SearchPath::from_environment()?);
    if let Some(fault) = names.fault() {
        if let Some(said) = &fault.said {
            audience.print_error(said);
        }
        audience.warn(&format!("there are no names of taxa: {}", fault.reason));
    }
    Ok(names)
}

fn open_database(names: &str, plan: &Plan, audience: &dyn Audience) -> Result<Target, Error> {
    let search = SearchPath::from_environment()?;
    let mut warnings = Vec::new();
    let kind = plan.subject_kind;
    let user = plan.restriction.as_ref();
    let database = Database::open_restricted(names, kind, &search, user, &mut warnings);
    warnings.iter().for_each(|warning| audience.warn(warning));
    let database = database?;
    refuse_uncounted(&database, plan)?;
    let shortest = database
        .counted_lengths()
        .map_or(MIN_SUBJECT_LENGTH, |(shortest, _)| i32::try_from(shortest).unwrap_or(i32::MAX));
    let stored = match &plan.database_mask {
        Some(wanted) => masks::stored(wanted, names, &database, &search, audience)?,
        None => masks::Stored::default(),
    };
    Ok(Target {
        totals: totals(&database, plan, shortest),
        is_listed: user.is_some_and(|user| !user.negative && !user.is_empty()),
        is_database_empty: database.whole().sequences == 0,
        aligns_unseen: false,
        summary: DatabaseSummary {
            kind: database.kind(),
            label: names.as_bytes().to_vec(),
            paragraphs: paragraphs(&database, &stored.algorithms),
            is_subject: false,
        },
        part_start: 0,
        whole: database.clone(),
        searched: database,
        lower_case: SubjectMasks::default(),
        masks: stored.masks,
        has_hard_masks: plan.database_mask.as_ref().is_some_and(|mask| mask.hard),
        taxonomy: TaxonomyNames::default(),
    })
}

/// Refuses a database that counts no residues but has some: BLAST+ then searches each sequence as a
/// database of its own (`db_length == 0` in blast_engine.c), whatever `STATS_TOTLEN` says.
fn refuse_uncounted(database: &Database, plan: &Plan) -> Result<(), Error> {
    let has_residues =
        || database.oids().iter().cloned().flatten().any(|oid| database.length_of(oid) > 0);
    if database.whole().residues == 0 && has_residues() {
        let what = "aliases that count no residues of a database in which sequences are searched";
        return Err(Error::unsupported(plan.program, what));
    }
    Ok(())
}

/// What BLAST+ calls the sequences of a FASTA file.
const SUBJECTS: &str = "User specified sequence set";

fn open_fasta(
    source: &Source,
    name: &str,
    range: Option<&Range<usize>>,
    plan: &Plan,
    audience: &dyn Audience,
) -> Result<Target, Error> {
    // psiblast does not know the file's name where it reports (`CBlastFormat`'s second constructor,
    // blast_format.cpp).
    let (title, label) = match plan.iteration {
        Some(_) => (format!("{SUBJECTS}."), format!("{SUBJECTS} (Input: )")),
        None => (format!("{SUBJECTS} (Input: {name})."), format!("{SUBJECTS} (Input: {name})")),
    };
    let subjects = read_subjects(source, range, plan, audience)?;
    let whole = subjects.iter().map(|subject| subject.record.clone());
    let kind = plan.subject_kind;
    let whole = Database::from_records(title.as_bytes(), kind, whole)?;
    let parts: Vec<Record> =
        subjects.iter().map(|subject| subject.searched(kind, range)).collect::<Result<_, _>>()?;
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
    Ok(Target {
        totals: totals(&searched, plan, shortest),
        is_listed: false,
        is_database_empty: false,
        aligns_unseen: false,
        summary: DatabaseSummary {
            kind: searched.kind(),
            label: label.into_bytes(),
            paragraphs: paragraphs(&searched, &[]),
            is_subject: true,
        },
        part_start: range.map_or(0, |range| range.start as u32),
        whole,
        searched,
        lower_case,
        masks,
        has_hard_masks: false,
        taxonomy: TaxonomyNames::default(),
    })
}

/// A sequence of `-subject`.
struct Subject {
    record: Record,
    lower_case: Vec<Range<u32>>,
}

impl Subject {
    /// The part to search, as BLAST+ loads it: like queries, in proteins with `X` for `O`.
    fn searched(&self, kind: SequenceKind, range: Option<&Range<usize>>) -> Result<Record, Error> {
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
        Ok(Record { deflines: self.record.deflines.clone(), residues })
    }

    /// The lower-case stretches of the whole sequence, and those of the part to search. The latter
    /// end before their last residue, which BLAST+ does not mask (`s_SeqLoc2MaskedSubjRanges`,
    /// `blast_setup_cxx.cpp`); so one of a single residue only keeps words from reaching across its
    /// start.
    fn masks(self, range: Option<&Range<usize>>) -> (Vec<Range<u32>>, Vec<Range<u32>>) {
        let from = range.map_or(0, |range| range.start as u32);
        let to = range.map_or(u32::MAX, |range| range.end as u32);
        let part = |run: &Range<u32>| run.start.max(from)..run.end.min(to);
        let inside = self.lower_case.iter().map(part).filter(|run| run.start < run.end);
        let searched = inside.map(|run| run.start - from..run.end - 1 - from).collect();
        (self.lower_case, searched)
    }
}

/// What is wrong with subjects. BLAST+ looks for a first definition line before it reads them.
fn subjects_failure(error: &FastaError, audience: &dyn Audience) -> Error {
    match error {
        FastaError::Invalid { line, problem: Problem::NoDefline, .. } => {
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
) -> Result<Vec<Subject>, Error> {
    let (input, _) = open_input(source, audience).map_err(|error| match path(source).is_dir() {
        // For BLAST+ a directory is an empty file.
        true => Error::engine(format_args!("{NO_SEQUENCES}\n({error})")),
        false => error,
    })?;
    let mut reader = reader(input, source, plan.subject_kind, plan.parse_deflines);
    let (mut subjects, mut unnamed) = (Vec::new(), 0);
    let failed = |error| subjects_failure(&error, audience);
    while let Some(record) = reader.next_record().map_err(failed)? {
        for warning in &record.warnings {
            audience.print_message(&warning.message_for(audience.program()));
        }
        unnamed += u32::from(record.ids.is_empty());
        // The part to search may begin where the sequence ends; beyond that is an error.
        if record.residues.len() == range.map_or(0, |range| range.start) {
            let mut name = message_name(&record, "Subject", unnamed as usize);
            if record.title.is_empty() {
                // The blank before a title is there without one, too.
                name.push(b' ');
            }
            let text = [&name[..], b": Subject sequence contains no data"].concat();
            audience.warn_from_rank(&text);
        }
        let lower_case = record.lower_case;
        let record = if record.ids.is_empty() {
            Record::subject(unnamed, &record.title, record.residues)
        } else {
            Record::identified(record.ids, record.title, record.residues)
        };
        subjects.push(Subject { record, lower_case });
    }
    if subjects.is_empty() {
        return Err(Error::engine(NO_SEQUENCES));
    }
    Ok(subjects)
}

fn totals(database: &Database, plan: &Plan, min_length: i32) -> DatabaseTotals {
    let (residues, sequences) = match database.stats_residues() {
        // Without any residues BLAST+ takes the first sequence for all (`BLAST_GetSubjectTotals`,
        // blast_setup.c).
        0 if database.oid_count() > 0 => (i64::from(database.length_of(0)), 1),
        residues => (residues as i64, database.stats_sequences() as i64),
    };
    let whole = database.whole();
    DatabaseTotals {
        residues: plan.dbsize.unwrap_or(residues),
        space_residues: plan.dbsize.filter(|&size| size > 0).unwrap_or(residues),
        sequences,
        mean_length: (whole.residues / whole.sequences.max(1)) as i64,
        min_length,
    }
}

/// `algorithms` is what to say of stored masks, for each database or for none.
fn paragraphs(database: &Database, algorithms: &[Vec<u8>]) -> Vec<DatabaseParagraph> {
    database
        .infos()
        .iter()
        .enumerate()
        .map(|(i, info)| DatabaseParagraph {
            masked_using: algorithms.get(i).cloned().unwrap_or_default(),
            title: info.title.clone(),
            date: info.date.clone().into_bytes(),
            sequences: info.sequences as i64,
            residues: info.residues as i64,
        })
        .collect()
}

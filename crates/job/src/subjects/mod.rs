//! The searched subjects: databases, or the sequences of a FASTA file.

mod fingerprint;
mod letters;
mod masks;
mod restricted;
mod shown;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use fleetblast_db::memory::SubjectRecord;
use fleetblast_db::partition::VolumeFile;
use fleetblast_db::restrict::HitVisibility;
use fleetblast_db::{
    Database, DbError, Defline, SearchPath, SequenceKind, TaxonNames, TaxonomyNames,
    UnprintableHeader,
};
use fleetblast_engine::params::{DatabaseTotals, SubjectTranslation};
use fleetblast_engine::subjects::Masks;
use fleetblast_report::archive_reader::ArchivedSequence;
use fleetblast_report::columns::Columns;
use fleetblast_report::error::SubjectReadError;
use fleetblast_report::model::{
    self, DatabaseParagraph, DatabaseSummary, IdentityLetters, SubjectSource,
};
use fleetblast_report::row_position::SearchedExtent;
use fleetblast_report::{ArchivedName, listed_subject};
use fleetblast_seq::alphabet;
use fleetblast_seq::fasta::{FastaError, FastaErrorKind};
use fleetblast_seq::frame::{Frame, Strand};

pub use self::letters::{MaskedLetters, StoredSequence};
use self::masks::SubjectMasks;
use self::shown::{SharedIdentifiers, letters_at_same_positions};
use crate::audience::{Audience, WarningRecorder};
use crate::error::{Error, NO_SEQUENCES};
use crate::fasta::{empty_subject_message, fasta_failure, open_input, path, reader, sequence_name};
use crate::plan::{Plan, Source, Subjects};

/// Length of the shortest subject that BLAST+ assumes in a database (rules 5.1).
const MIN_SUBJECT_LENGTH: i32 = 10;

/// An opened database, or subjects held in memory.
pub struct SubjectDatabase {
    /// The searched sequences: for `-subject_loc`, only parts of the subjects.
    pub searched: Database,
    /// The whole subjects, for reports.
    whole: Database,
    /// Finds the sequences that reports show, if several databases can have the same identifiers.
    shared_identifiers: Option<SharedIdentifiers>,
    /// Lower-case ranges of each whole subject, with `-subject` and `-lcase_masking`.
    lower_case: SubjectMasks,
    /// Masks of the searched sequences: their lower case, or stored masks.
    masks: SubjectMasks,
    /// Whether the masks are hard: nothing aligns to masked residues. Otherwise seeds do not touch
    /// them.
    has_hard_masks: bool,
    /// Whether reports do not show masks.
    hides_masks: bool,
    /// Totals of the database for the statistics.
    pub totals: DatabaseTotals,
    /// Whether the user listed the sequences to search.
    is_listed: bool,
    /// Whether a restriction leaves no sequence of the database.
    pub is_database_empty: bool,
    /// Whether BLAST+ refuses to search sequences as short as these.
    is_too_short: bool,
    /// Whether subjects that a restriction excludes are aligned, too. BLAST+ aligns proteins
    /// without gaps before it reads their definition lines.
    aligns_excluded: bool,
    /// Genetic codes that translate the subjects in the frames of alignments.
    translation: Option<SubjectTranslation>,
    /// Start of the searched part of each subject (`-subject_loc`), from 0.
    searched_start: u32,
    /// The definition line of each FASTA subject, as read.
    fasta_deflines: Vec<Vec<u8>>,
    /// The warnings about the subjects, as printed when they were opened.
    pub opening_warnings: Vec<String>,
    /// Description of the database for reports.
    pub summary: DatabaseSummary,
    /// The names of taxa, if reports show them.
    pub taxonomy: TaxonomyNames,
    /// The names of subjects in the archive of a restricted search, by OID.
    archived_names: RwLock<HashMap<u32, ArchivedName>>,
}

/// What queries depend on of a database.
#[derive(Clone, Copy, Debug, Default)]
pub struct DatabaseFacts {
    /// Number of letters, which determines adaptive batches.
    pub letters: i64,
    /// Whether a restriction leaves no sequence of the database. BLAST+ warns of it for each query.
    pub is_empty: bool,
    /// Whether BLAST+ refuses to search sequences as short as these.
    pub is_too_short: bool,
}

impl SubjectDatabase {
    /// Opens the subjects of a plan. Warnings go to the audience.
    pub fn open(plan: &Plan, audience: &dyn Audience) -> Result<SubjectDatabase, Error> {
        let recorder = WarningRecorder::new(audience);
        let target = match &plan.subjects {
            Subjects::Database(names) => open_database(names, plan, &recorder)?,
            Subjects::Fasta { source, name, range } => {
                open_fasta(source, name, range.as_ref(), plan, &recorder)?
            }
        };
        target.complete(plan, recorder, audience)
    }

    /// Holds the subjects that an archive stores.
    ///
    /// # Errors
    /// Too many or too long sequences; a taxonomy database that cannot be read.
    pub fn from_archive(
        plan: &Plan,
        stored: &[ArchivedSequence],
        audience: &dyn Audience,
    ) -> Result<SubjectDatabase, Error> {
        let subject = |stored: &ArchivedSequence| {
            let ArchivedSequence { ids, title, letters } = stored.clone();
            let record = SubjectRecord::with_ids(ids, title, letters);
            FastaSubject { record, defline: Vec::new(), lower_case: Vec::new() }
        };
        let subjects = stored.iter().map(subject).collect();
        let target = hold_subjects(subjects, "", None, plan)?;
        target.complete(plan, WarningRecorder::new(audience), audience)
    }

    /// Adds what depends on the program, and the warnings that were recorded when the subjects were
    /// opened.
    fn complete(
        self,
        plan: &Plan,
        recorder: WarningRecorder<'_>,
        audience: &dyn Audience,
    ) -> Result<SubjectDatabase, Error> {
        let is_protein = self.searched.kind() == SequenceKind::Protein;
        let aligns_excluded = is_protein && plan.params.common().ungapped;
        let taxonomy = open_taxonomy(plan, audience)?;
        let translation = plan.params.subject_translation().cloned();
        let opening_warnings = recorder.into_warnings();
        Ok(SubjectDatabase { taxonomy, aligns_excluded, translation, opening_warnings, ..self })
    }

    /// Returns whether the subjects are translated.
    pub fn is_translated(&self) -> bool {
        self.translation.is_some()
    }

    /// Returns what queries depend on of the database.
    pub fn facts(&self) -> DatabaseFacts {
        DatabaseFacts {
            letters: self.letters(),
            is_empty: self.is_database_empty,
            is_too_short: self.is_too_short,
        }
    }

    /// Returns the number of letters of all databases that reports name.
    pub fn letters(&self) -> i64 {
        self.summary.paragraphs.iter().map(|paragraph| paragraph.residues).sum()
    }

    /// Returns the first definition line with unprintable characters of each volume, among those
    /// that this process has read.
    pub fn odd_headers(&self) -> Vec<UnprintableHeader> {
        self.whole.unprintable_headers()
    }

    /// Returns whether the sequences are in files of volumes. Otherwise this process holds them in
    /// memory.
    pub fn is_on_disk(&self) -> bool {
        self.searched.volume_file(0, VolumeFile::Sequences).is_some()
    }

    /// Returns the letters of a whole subject; `None` if they cannot be read.
    fn stored(&self, oid: u32) -> Option<StoredSequence<'_>> {
        if self.whole.kind() == SequenceKind::Nucleotide {
            return self.whole.bases_of(oid).ok().map(StoredSequence::Bases);
        }
        Some(StoredSequence::Residues(self.whole.residues_of(oid)))
    }

    /// Returns the OID of the sequence that reports show for a subject.
    fn shown_oid(&self, oid: u32) -> Result<u32, DbError> {
        match &self.shared_identifiers {
            Some(shared) => shared.shown_oid(&self.whole, oid),
            None => Ok(oid),
        }
    }

    /// Returns how hits to a subject are treated under the restriction of the search.
    ///
    /// # Errors
    /// A damaged database.
    pub fn visibility(&self, oid: u32) -> Result<HitVisibility, DbError> {
        match self.searched.hit_visibility(oid)? {
            HitVisibility::Excluded if self.aligns_excluded => Ok(HitVisibility::Unreported),
            visibility => Ok(visibility),
        }
    }

    /// Returns whether a subject has this visibility. A damaged subject has none; the damage is
    /// reported later, with the hits.
    pub fn has_visibility(&self, oid: u32, wanted: HitVisibility) -> bool {
        self.visibility(oid).is_ok_and(|visibility| visibility == wanted)
    }

    /// Returns the names of FASTA subjects for the list in JSON and XML2.
    pub fn listed_subjects(&self) -> Vec<Vec<u8>> {
        let name = |oid| match self.whole.deflines(oid) {
            Ok(lines) => lines.first().map(|line| listed_subject(&line.ids)).unwrap_or_default(),
            // Sequences in memory have definition lines that can be read.
            Err(_) => Vec::new(),
        };
        (0..self.whole.oid_count()).map(name).collect()
    }

    /// Hides all masks of subjects from reports. Their algorithm stays in the summary. Identical
    /// letters are counted as in the search.
    pub fn hide_masks(&mut self) {
        self.hides_masks = true;
    }

    /// Sets how the archive of a restricted search names a subject.
    pub fn set_archived_name(&self, oid: u32, name: ArchivedName) {
        let mut names = self.archived_names.write().unwrap_or_else(PoisonError::into_inner);
        names.insert(oid, name);
    }

    /// Whether the search uses masks that the database stores.
    pub fn has_stored_masks(&self) -> bool {
        self.summary.paragraphs.iter().any(|paragraph| !paragraph.masked_using.is_empty())
    }

    /// Returns the masks of a searched sequence.
    pub fn masks_of(&self, oid: u32) -> Masks<'_> {
        let ranges = self.masks.ranges_of(oid);
        // Stored masks apply to all sequences. Lower case applies only to the sequences that have
        // some.
        let is_without = self.masks.is_empty() || self.summary.is_subject && ranges.is_empty();
        match self.has_hard_masks {
            _ if is_without => Masks::None,
            true => Masks::Hard(ranges),
            false => Masks::Soft(ranges),
        }
    }
}

impl SubjectSource for SubjectDatabase {
    fn extent(&self, oid: u32) -> SearchedExtent {
        let searched = self.searched_start..self.searched_start + self.searched.length_of(oid);
        SearchedExtent { length: self.whole.length_of(oid), searched_range: searched }
    }

    fn report_letters(&self, oid: u32, frame: Frame, read: Range<u32>) -> Option<Cow<'_, [u8]>> {
        let code = self.translation.as_ref().map(|translation| &translation.report_code);
        let translate = code.map(|code| |letters: &[u8]| code.translate_for_report(letters));
        let shown = self.shown_oid(oid).ok()?;
        if shown != oid {
            let place = (frame, read, self.whole.length_of(oid));
            return letters_at_same_positions(self.stored(shown)?, place, translate);
        }
        MaskedLetters { stored: self.stored(oid)?, masks: Masks::None }.view(frame, read, translate)
    }

    fn letters_for_identities(
        &self,
        oid: u32,
        frame: Frame,
        read: Range<u32>,
        count: IdentityLetters,
    ) -> Option<Cow<'_, [u8]>> {
        let code = self.translation.as_ref().map(|translation| match count {
            IdentityLetters::MaskedByReportCode => &translation.report_code,
            IdentityLetters::Aligned | IdentityLetters::Unmasked => &translation.code,
        });
        let translate = code.map(|code| |letters: &[u8]| code.translate(letters));
        let masks = match count {
            IdentityLetters::Unmasked => Masks::None,
            IdentityLetters::Aligned | IdentityLetters::MaskedByReportCode => self.masks_of(oid),
        };
        let mut letters =
            MaskedLetters { stored: self.stored(oid)?, masks }.view(frame, read, translate)?;
        // Searches of FASTA subjects replace O by X, as in queries.
        if self.summary.is_subject && frame == Frame::Protein && letters.contains(&alphabet::O) {
            let replaced = letters.to_mut().iter_mut().filter(|code| **code == alphabet::O);
            replaced.for_each(|code| *code = alphabet::X);
        }
        Some(letters)
    }

    fn deflines(&self, oid: u32) -> Result<Vec<fleetblast_db::Defline>, SubjectReadError> {
        let lines = match &self.shared_identifiers {
            Some(shared) => shared.deflines(&self.whole, oid),
            None => self.whole.deflines(oid),
        };
        lines.map_err(Into::into)
    }

    fn shares_identifiers(&self) -> bool {
        self.shared_identifiers.is_some()
    }

    fn shown_length(&self, oid: u32) -> u32 {
        self.whole.length_of(self.shown_oid(oid).unwrap_or(oid))
    }

    fn has_taxonomy(&self) -> bool {
        self.taxonomy.is_installed()
    }

    fn taxon(&self, taxid: i64) -> Result<Option<TaxonNames>, SubjectReadError> {
        self.taxonomy.names_of_taxid(taxid).map_err(Into::into)
    }

    fn fasta_subjects(&self) -> Result<Vec<model::FastaSubject<'_>>, SubjectReadError> {
        let subject = |oid: u32| -> Result<_, SubjectReadError> {
            let defline = &self.fasta_deflines[oid as usize][..];
            let mut lines = self.deflines(oid)?;
            let Defline { ids, title, .. } = lines.swap_remove(0);
            let whole = 0..self.whole.length_of(oid);
            let frame = match self.whole.kind() {
                SequenceKind::Protein => Frame::Protein,
                _ => Frame::Strand(Strand::Plus),
            };
            let letters = self.report_letters(oid, frame, whole).unwrap_or_default();
            Ok(model::FastaSubject { ids, defline, title, letters })
        };
        (0..self.fasta_deflines.len() as u32).map(subject).collect()
    }

    fn archived_name(&self, oid: u32) -> Option<ArchivedName> {
        let names = self.archived_names.read().unwrap_or_else(PoisonError::into_inner);
        names.get(&oid).cloned()
    }

    fn is_listed(&self) -> bool {
        self.is_listed
    }

    fn masks(&self, oid: u32) -> &[Range<u32>] {
        if self.hides_masks {
            return &[];
        }
        let shown = if self.summary.is_subject { &self.lower_case } else { &self.masks };
        shown.ranges_of(oid)
    }
}

/// Opens the taxonomy database, if the report may show names of taxa. As in BLAST+, a taxonomy
/// database that cannot be used only causes warnings.
fn open_taxonomy(plan: &Plan, audience: &dyn Audience) -> Result<TaxonomyNames, Error> {
    let format = plan.report.options(plan.parse_deflines, plan.params.common().release).format;
    let shows_columns = format.columns().is_some_and(Columns::have_taxon_names);
    let has_taxids = matches!(plan.subjects, Subjects::Database(_));
    let shows_titles = has_taxids && format.shows_taxa();
    // The organism report looks up taxid 0, too, which stands for no taxid.
    let shows_organisms = format == model::Format::Organisms;
    if !shows_columns && !shows_titles && !shows_organisms {
        return Ok(TaxonomyNames::default());
    }
    let names = TaxonomyNames::find_on_search_path(&SearchPath::from_environment()?);
    if let Some(fault) = names.fault() {
        if let Some(said) = &fault.blast_message {
            audience.print_error(said);
        }
        audience.warn(&format!("there are no names of taxa: {}", fault.reason));
    }
    Ok(names)
}

fn open_database(
    names: &str,
    plan: &Plan,
    audience: &dyn Audience,
) -> Result<SubjectDatabase, Error> {
    let counts = plan.params.common().release.counts_oid_lists;
    let search = SearchPath::from_environment()?.counting_oid_lists(counts);
    let user = plan.restriction.as_ref();
    let database = restricted::open(names, plan, &search, audience)?;
    refuse_uncounted_residues(&database, plan)?;
    let shortest = database
        .counted_length_bounds()
        .map_or(MIN_SUBJECT_LENGTH, |(shortest, _)| i32::try_from(shortest).unwrap_or(i32::MAX));
    let stored = match &plan.database_mask {
        Some(wanted) => masks::read_stored_masks(wanted, names, &database, &search, audience)?,
        None => masks::StoredMasks::default(),
    };
    Ok(SubjectDatabase {
        is_too_short: is_too_short(&database, plan, shortest),
        totals: database_totals(&database, plan, shortest),
        is_listed: user.is_some_and(|user| !user.is_negative && !user.is_empty()),
        is_database_empty: database.combined_info().sequence_count == 0,
        aligns_excluded: false,
        translation: None,
        summary: DatabaseSummary {
            kind: database.kind(),
            label: names.as_bytes().to_vec(),
            paragraphs: paragraphs(&database, &stored.algorithms),
            is_subject: false,
        },
        searched_start: 0,
        fasta_deflines: Vec::new(),
        opening_warnings: Vec::new(),
        shared_identifiers: SharedIdentifiers::open(&database)?,
        whole: database.clone(),
        searched: database,
        lower_case: SubjectMasks::default(),
        masks: stored.masks,
        has_hard_masks: plan.database_mask.as_ref().is_some_and(|mask| mask.hard),
        hides_masks: false,
        taxonomy: TaxonomyNames::default(),
        archived_names: RwLock::default(),
    })
}

/// Refuses a database that states no residues but has some. BLAST+ searches each of its sequences
/// as a database of its own (`db_length == 0` in blast_engine.c), whatever `STATS_TOTLEN` is.
fn refuse_uncounted_residues(database: &Database, plan: &Plan) -> Result<(), Error> {
    let has_residues = || {
        database.included_oids().iter().cloned().flatten().any(|oid| database.length_of(oid) > 0)
    };
    if database.combined_info().residue_count == 0 && has_residues() {
        let what = "aliases that count no residues of a database in which sequences are searched";
        return Err(Error::unsupported(&plan.program, what));
    }
    Ok(())
}

/// BLAST+'s name for the sequences of a FASTA file.
const SUBJECTS_NAME: &str = "User specified sequence set";

fn open_fasta(
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

/// Holds subjects in memory. `name` is the name of their file; it is empty if reports do not state
/// it.
fn hold_subjects(
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
    Ok(SubjectDatabase {
        is_too_short: is_too_short(&searched, plan, shortest),
        totals: database_totals(&searched, plan, shortest),
        is_listed: false,
        is_database_empty: false,
        aligns_excluded: false,
        translation: None,
        summary: DatabaseSummary {
            kind: searched.kind(),
            label: label.into_bytes(),
            paragraphs: paragraphs(&searched, &[]),
            is_subject: true,
        },
        searched_start: range.map_or(0, |range| range.start as u32),
        fasta_deflines,
        opening_warnings: Vec::new(),
        shared_identifiers: None,
        whole,
        searched,
        lower_case,
        masks,
        has_hard_masks: false,
        hides_masks: false,
        taxonomy: TaxonomyNames::default(),
        archived_names: RwLock::default(),
    })
}

/// A sequence of `-subject`.
struct FastaSubject {
    record: SubjectRecord,
    /// The definition line as read.
    defline: Vec<u8>,
    lower_case: Vec<Range<u32>>,
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

/// Returns the numbers of residues and sequences that the database states.
fn stated_totals(database: &Database) -> (i64, i64) {
    match database.stats_residue_count() {
        // If the database states no residues, BLAST+ takes the first sequence for the whole
        // database (`BLAST_GetSubjectTotals`, blast_setup.c).
        0 if database.oid_count() > 0 => (i64::from(database.length_of(0)), 1),
        residues => (residues as i64, database.stats_sequence_count() as i64),
    }
}

/// Returns whether BLAST+ refuses to search these sequences because they are too short on average,
/// or because the shortest one is, if statistics depend on that (`BLAST_GapAlignSetUp`,
/// blast_setup.c).
fn is_too_short(database: &Database, plan: &Plan, shortest: i32) -> bool {
    let params = &plan.params;
    if !params.common().release.refuses_short_subjects {
        return false;
    }
    match params.has_finite_size_statistics() {
        true => shortest / if params.subject_translation().is_some() { 3 } else { 1 } <= 0,
        false => {
            let (residues, sequences) = stated_totals(database);
            residues / sequences.max(1) <= 0
        }
    }
}

fn database_totals(database: &Database, plan: &Plan, min_length: i32) -> DatabaseTotals {
    let (residues, sequences) = stated_totals(database);
    let whole = database.combined_info();
    let space_residues = plan.dbsize.filter(|&size| size > 0).unwrap_or(residues);
    DatabaseTotals {
        residues: plan.dbsize.unwrap_or(residues),
        space_residues,
        is_empty: space_residues == 0,
        sequences,
        stored_residues: whole.residue_count as i64,
        mean_length: (whole.residue_count / whole.sequence_count.max(1)) as i64,
        min_length,
    }
}

/// Describes each database for reports. `algorithms` has the text about stored masks for each
/// database, or is empty.
fn paragraphs(database: &Database, algorithms: &[Vec<u8>]) -> Vec<DatabaseParagraph> {
    database
        .database_infos()
        .iter()
        .enumerate()
        .map(|(i, info)| DatabaseParagraph {
            masked_using: algorithms.get(i).cloned().unwrap_or_default(),
            title: info.title.clone(),
            date: info.date.clone().into_bytes(),
            sequences: info.sequence_count as i64,
            residues: info.residue_count as i64,
        })
        .collect()
}

//! The searched subjects: databases, or the sequences of a FASTA file.

mod fasta;
mod fingerprint;
mod letters;
mod masks;
mod restricted;
mod shown;
mod source;
mod totals;

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use fleetblast_db::memory::SubjectRecord;
use fleetblast_db::partition::VolumeFile;
use fleetblast_db::restrict::HitVisibility;
use fleetblast_db::{
    Database, DbError, SearchPath, SequenceKind, TaxonomyNames, UnprintableHeader,
};
use fleetblast_engine::params::{DatabaseTotals, SubjectTranslation};
use fleetblast_engine::subjects::Masks;
use fleetblast_report::archive_reader::ArchivedSequence;
use fleetblast_report::columns::Columns;
use fleetblast_report::model::{self, DatabaseParagraph, DatabaseSummary};
use fleetblast_report::{ArchivedName, listed_subject};

use self::fasta::{FastaSubject, hold_subjects, open_fasta};
pub use self::letters::{MaskedLetters, StoredSequence};
use self::masks::SubjectMasks;
use self::shown::SharedIdentifiers;
use self::totals::{MIN_SUBJECT_LENGTH, database_totals, is_too_short};
use crate::audience::{Audience, WarningRecorder};
use crate::error::Error;
use crate::plan::{Plan, Subjects};

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
    /// The taxids of the user's list that archives state, ascending.
    pub archived_taxids: Vec<i32>,
    /// Whether a restriction leaves no sequence of the database.
    pub is_database_empty: bool,
    /// Whether BLAST+ refuses to search these subjects because they are too short.
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

/// Properties of a database that affect queries.
#[derive(Clone, Copy, Debug, Default)]
pub struct DatabaseFacts {
    /// Number of letters of the database, which determines the sizes of adaptive batches.
    pub letters: i64,
    /// Whether a restriction leaves no sequence of the database. BLAST+ warns of it for each query.
    pub is_empty: bool,
    /// Whether BLAST+ refuses to search these subjects because they are too short.
    pub is_too_short: bool,
}

impl SubjectDatabase {
    /// Opens the subjects of a plan. Warnings go to the audience.
    pub fn open(plan: &Plan, audience: &dyn Audience) -> Result<SubjectDatabase, Error> {
        let recorder = WarningRecorder::new(audience);
        let database = match &plan.subjects {
            Subjects::Database(names) => open_database(names, plan, &recorder)?,
            Subjects::Fasta { source, name, range } => {
                open_fasta(source, name, range.as_ref(), plan, &recorder)?
            }
        };
        database.complete(plan, recorder, audience)
    }

    /// Creates the database of the subjects that an archive stores. They are held in memory.
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
        let database = hold_subjects(subjects, "", None, plan)?;
        database.complete(plan, WarningRecorder::new(audience), audience)
    }

    /// Creates subjects without masks, restriction and names of taxa. `shortest` is the length of
    /// the shortest subject, for the statistics.
    fn plain(
        whole: Database,
        searched: Database,
        shortest: i32,
        summary: DatabaseSummary,
        plan: &Plan,
    ) -> SubjectDatabase {
        SubjectDatabase {
            is_too_short: is_too_short(&searched, plan, shortest),
            totals: database_totals(&searched, plan, shortest),
            is_listed: false,
            archived_taxids: Vec::new(),
            is_database_empty: false,
            aligns_excluded: false,
            translation: None,
            summary,
            searched_start: 0,
            fasta_deflines: Vec::new(),
            opening_warnings: Vec::new(),
            shared_identifiers: None,
            whole,
            searched,
            lower_case: SubjectMasks::default(),
            masks: SubjectMasks::default(),
            has_hard_masks: false,
            hides_masks: false,
            taxonomy: TaxonomyNames::default(),
            archived_names: RwLock::default(),
        }
    }

    /// Adds the properties that depend on the program, the names of taxa, and the warnings that
    /// `recorder` received when the subjects were opened.
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

    /// Returns the properties of the database that affect queries.
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
    fn stored_letters(&self, oid: u32) -> Option<StoredSequence<'_>> {
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
    let summary = DatabaseSummary {
        kind: database.kind(),
        label: names.as_bytes().to_vec(),
        paragraphs: paragraphs(&database, &stored.algorithms),
        is_subject: false,
    };
    Ok(SubjectDatabase {
        is_listed: user.is_some_and(|user| !user.is_negative && !user.is_empty()),
        archived_taxids: restricted::archived_taxids(plan, &database)?,
        is_database_empty: database.combined_info().sequence_count == 0,
        shared_identifiers: SharedIdentifiers::open(&database)?,
        masks: stored.masks,
        has_hard_masks: plan.database_mask.as_ref().is_some_and(|mask| mask.has_hard_masks),
        ..SubjectDatabase::plain(database.clone(), database, shortest, summary, plan)
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

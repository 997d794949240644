//! The subjects of a report, and where their letters and names come from.

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_db::{Defline, SequenceKind, TaxonNames};
use fleetblast_seq::frame::Frame;
use fleetblast_seq::id::SeqId;

use crate::archived_name::ArchivedName;
use crate::error::SubjectReadError;
use crate::row_position::SearchedExtent;

/// The masks and the genetic code of the sequences in which reports count identical letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityLetters {
    /// The sequences as aligned: the unmasked query, and subjects with `X` in hard masks.
    Aligned,
    /// Unmasked sequences, also subjects. Ungapped searches of proteins use them because they have
    /// no traceback.
    Unmasked,
    /// The masked query and masked subjects, the subjects translated by the genetic code of reports
    /// even if the search used another one. Searches of translated subjects with composition-based
    /// statistics use them (`s_ComputeNumIdentities`, blast_kappa.c).
    MaskedByReportCode,
}

/// The source of the subjects' residues and definition lines.
pub trait SubjectSource {
    /// Returns the length of subject `oid` and its searched range.
    fn extent(&self, oid: u32) -> SearchedExtent;

    /// Whether several databases can have sequences of the same identifier. BLAST+ finds the
    /// sequence that it shows for a hit by identifier, and so shows that of the first database.
    fn shares_identifiers(&self) -> bool {
        false
    }

    /// Returns the length of the whole sequence that reports show for subject `oid`.
    fn shown_length(&self, oid: u32) -> u32 {
        self.extent(oid).length
    }

    /// Returns the letters that reports show for the range `read` (0-based, half-open) of `frame`
    /// of the whole subject `oid`, independent of `-subject_loc`. They are NCBIstdaa codes, or
    /// blastna codes if `frame` is a strand. `None` if the subject has no such letters.
    ///
    /// If [identifiers are shared](Self::shares_identifiers), the shown sequence can be shorter.
    /// Letters beyond its end are gaps. On the minus strand, all letters of `read` are gaps if any
    /// of them is beyond the end.
    fn report_letters(&self, oid: u32, frame: Frame, read: Range<u32>) -> Option<Cow<'_, [u8]>>;

    /// Returns the letters of the searched sequence in which reports count identical letters. The
    /// arguments are those of [`report_letters`](Self::report_letters), whose letters are the
    /// default.
    fn letters_for_identities(
        &self,
        oid: u32,
        frame: Frame,
        read: Range<u32>,
        _: IdentityLetters,
    ) -> Option<Cow<'_, [u8]>> {
        self.report_letters(oid, frame, read)
    }

    /// Returns the definition lines that reports show for the subject, at least one.
    ///
    /// A FASTA subject has one: its title as read, and the identifier `lcl|Subject_N` (N counts
    /// from 1), or the parsed identifiers with `-parse_deflines`.
    ///
    /// # Errors
    /// If the database's header of the subject cannot be read.
    fn deflines(&self, oid: u32) -> Result<Vec<Defline>, SubjectReadError>;

    /// Whether the user restricted the search to a list of sequences. If so, reports show only some
    /// of a subject's definition lines (`SubjectNames::shown_deflines`).
    fn is_listed(&self) -> bool {
        false
    }

    /// Returns the identifier by which alignments name the subject if reports show another sequence
    /// with the same identifier for it; otherwise `None`.
    ///
    /// # Errors
    /// If the definition lines cannot be read.
    fn own_id(&self, _oid: u32) -> Result<Option<SeqId>, SubjectReadError> {
        Ok(None)
    }

    /// Returns the name of the subject in the archive of a restricted search; `None` if the report
    /// is not made from such an archive.
    fn archived_name(&self, _oid: u32) -> Option<ArchivedName> {
        None
    }

    /// Whether there is a taxonomy database, valid or not.
    fn has_taxonomy(&self) -> bool {
        false
    }

    /// Returns the names of a taxon; `None` if it has none, or if there is no taxonomy database.
    ///
    /// # Errors
    /// If the taxonomy database is damaged.
    fn taxon(&self, taxid: i64) -> Result<Option<TaxonNames>, SubjectReadError>;

    /// Returns all subjects if they come from FASTA; none for a database. Archives store them.
    ///
    /// # Errors
    /// If a subject cannot be read.
    fn fasta_subjects(&self) -> Result<Vec<FastaSubject<'_>>, SubjectReadError> {
        Ok(Vec::new())
    }

    /// Returns the ranges of lower-case letters of the whole subject, ascending, if these letters
    /// count as masked; otherwise none.
    fn masks(&self, oid: u32) -> &[Range<u32>] {
        let _ = oid;
        &[]
    }
}

/// A subject from FASTA, as it was read.
#[derive(Clone, Debug)]
pub struct FastaSubject<'a> {
    /// Identifiers of the subject, at least one.
    pub ids: Vec<SeqId>,
    /// The definition line without `>`.
    pub defline: &'a [u8],
    /// The title.
    pub title: Vec<u8>,
    /// Codes of the letters: NCBIstdaa for a protein, blastna for bases.
    pub letters: Cow<'a, [u8]>,
}

/// One database of `-db`, or all subjects of `-subject`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DatabaseParagraph {
    /// The title; `User specified sequence set (Input: FILE).` for `-subject`.
    pub title: Vec<u8>,
    /// The date as stored; `Unknown` for `-subject`.
    pub date: Vec<u8>,
    /// Name and options of the algorithm that made the stored masks, if they are used: `'seg',
    /// options: 'window=12'`. Empty without such masks.
    pub masked_using: Vec<u8>,
    /// Number of sequences as stored.
    pub sequences: i64,
    /// Number of residues as stored.
    pub residues: i64,
}

/// The searched databases.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DatabaseSummary {
    /// Molecule type of the stored sequences. It is nucleotide even if the search translates them.
    pub kind: SequenceKind,
    /// Name of the databases in format 7 and XML: the text of `-db`. For `-subject` it is `User
    /// specified sequence set (Input: FILE)`.
    pub label: Vec<u8>,
    /// The databases of `-db`, in the order given there.
    pub paragraphs: Vec<DatabaseParagraph>,
    /// Whether the subjects come from FASTA (`-subject`).
    pub is_subject: bool,
}

//! What a report is made from. The caller fills these structures; nothing here reads files.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use fleetblast_db::{Defline, SequenceKind, TaxonNames};
use fleetblast_engine::hits::{Alignment, SubjectHit};
use fleetblast_engine::params::Params;
use fleetblast_engine::pattern::Pattern;
use fleetblast_engine::query::{Context, Query};
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::id::SeqId;

use crate::columns::Columns;
use crate::error::Cause;
use crate::locus::{Extent, Locus};
use crate::papers::Paper;

/// Where the subjects' residues and definition lines come from.
pub trait SubjectSource {
    /// How long subject `oid` is, and how much of it was searched.
    fn extent(&self, oid: u32) -> Extent;

    /// The letters `read` (0-based, half-open) of what `frame` reads of the whole subject `oid`, whatever `-subject_loc` says:
    /// NCBIstdaa codes, or those of blastna where it reads base by base. `None` if the subject has no such letters.
    fn view(&self, oid: u32, frame: Frame, read: Range<u32>) -> Option<Cow<'_, [u8]>>;

    /// The same as the search aligned it, with `X` where a hard mask lies.
    fn aligned(&self, oid: u32, frame: Frame, read: Range<u32>) -> Option<Cow<'_, [u8]>> {
        self.view(oid, frame, read)
    }

    /// Its definition lines, never none. For a FASTA subject: one, with the title as read and the
    /// identifier `lcl|Subject_N` (N counts from 1), or the parsed ones with `-parse_deflines`.
    ///
    /// # Errors
    /// If the database's header of the subject cannot be read.
    fn deflines(&self, oid: u32) -> Result<Vec<Defline>, Cause>;

    /// Whether the user listed what to search. Not all definition lines of a listed subject are then shown (`Subject::shown`).
    fn is_listed(&self) -> bool {
        false
    }

    /// The names of a taxon; `None` if it has none, or there is no taxonomy database.
    ///
    /// # Errors
    /// If the taxonomy database is damaged.
    fn taxon(&self, taxid: i64) -> Result<Option<TaxonNames>, Cause>;

    /// The masked stretches of the whole subject as written, ascending: its lower case if that counts as a mask.
    fn masks(&self, oid: u32) -> &[Range<u32>] {
        let _ = oid;
        &[]
    }
}

/// One database of `-db`, or all subjects of `-subject`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DatabaseParagraph {
    /// Its title; `User specified sequence set (Input: FILE).` for `-subject`.
    pub title: Vec<u8>,
    /// Its date as stored; `Unknown` for `-subject`.
    pub date: Vec<u8>,
    /// Name and options of the algorithm whose stored masks are used, `'seg', options: 'window=12'`; empty for none.
    pub masked_using: Vec<u8>,
    /// Number of sequences it states.
    pub sequences: i64,
    /// Number of residues it states.
    pub residues: i64,
}

/// The searched databases.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DatabaseSummary {
    /// What its sequences are, as stored: those of a translated search are nucleotides.
    pub kind: SequenceKind,
    /// What format 7 and XML call it: the text of `-db`; for `-subject`
    /// `User specified sequence set (Input: FILE)`.
    pub label: Vec<u8>,
    /// One for each database of `-db`, in that order.
    pub paragraphs: Vec<DatabaseParagraph>,
    /// The subjects come from FASTA (`-subject`).
    pub is_subject: bool,
}

/// The output format (`-outfmt`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Format {
    /// 0: pairwise.
    Pairwise,
    /// 5: XML.
    Xml,
    /// 6 and 10: tabular and comma separated; they differ in the delimiter of the columns.
    Tabular(Columns),
    /// 7: tabular with comment lines.
    Commented(Columns),
    /// 17: SAM, of nucleotides.
    Sam(Sam),
}

impl Format {
    /// The columns of a format that has some.
    pub fn columns(&self) -> Option<&Columns> {
        match self {
            Format::Tabular(columns) | Format::Commented(columns) => Some(columns),
            Format::Pairwise | Format::Xml | Format::Sam(_) => None,
        }
    }

    /// Whether titles or columns of subjects from a database may show names of taxa.
    pub fn shows_taxa(&self) -> bool {
        !matches!(self, Format::Xml | Format::Sam(_))
    }
}

/// What a report in SAM holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sam {
    /// `SQ`: the letters of what is aligned.
    pub letters: bool,
    /// `SR`: subjects are the references, and queries what is aligned to them; otherwise it is the other way round.
    pub subjects_are_references: bool,
    /// The command line: its words, a blank after each.
    pub command: Vec<u8>,
}

impl Sam {
    /// After the words that follow the number in `-outfmt`; those that are not known count for nothing.
    ///
    /// ```
    /// use fleetblast_report::model::Sam;
    /// let sam = Sam::parse("SQ nonsense", b"blastn -outfmt 17 SQ ");
    /// assert!(sam.letters && !sam.subjects_are_references);
    /// ```
    pub fn parse(words: &str, command: &[u8]) -> Self {
        let has = |word| words.split(' ').any(|typed| typed == word);
        Self { letters: has("SQ"), subjects_are_references: has("SR"), command: command.to_vec() }
    }
}

/// Order of the subjects (`-sorthits`, format 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitOrder {
    /// 0: by e-value, as found.
    Evalue,
    /// 1: by the best bit score.
    BitScore,
    /// 2: by the sum of the bit scores.
    TotalScore,
    /// 3: by the identity of the best alignment.
    Identity,
    /// 4: by the covered part of the query.
    Coverage,
}

/// Order of the alignments of a subject (`-sorthsps`, format 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HspOrder {
    /// 0: by e-value, as found.
    Evalue,
    /// 1: by score.
    Score,
    /// 2: by start in the query.
    QueryStart,
    /// 3: by identity.
    Identity,
    /// 4: by start in the subject.
    SubjectStart,
}

/// The choices of the command line that change the report only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputOptions {
    /// `-outfmt`.
    pub format: Format,
    /// `-line_length`: columns of an alignment in a line.
    pub line_length: usize,
    /// `-html`.
    pub html: bool,
    /// `-sorthits`; any value adds columns to the description table.
    pub hit_order: Option<HitOrder>,
    /// `-sorthsps`.
    pub hsp_order: HspOrder,
    /// `-show_gis`.
    pub show_gis: bool,
    /// `-num_descriptions`, or what stands for it: rows of the description table.
    pub num_descriptions: usize,
    /// `-num_alignments`, or what stands for it: subjects with alignments.
    pub num_alignments: usize,
    /// `-parse_deflines`: the queries' (and FASTA subjects') identifiers were parsed.
    pub parse_deflines: bool,
}

/// What is the same for all queries of a run.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// The program, lower case: `blastp`.
    pub program: &'a str,
    /// Its banner: `BLASTP 2.12.0+`.
    pub banner: &'a str,
    /// The papers that it cites: those of [`crate::papers`].
    pub papers: &'a [Paper],
    /// What was searched.
    pub database: DatabaseSummary,
    /// How it was searched.
    pub params: &'a Params,
    /// The matrix as the user spelled it; nothing for nucleotides.
    pub matrix_name: &'a str,
    /// Residues from the first to the last place of `-query_loc`, as typed: a query may end before that.
    pub query_part: Option<usize>,
    /// How to write it down.
    pub output: OutputOptions,
}

/// A query and what was found.
#[derive(Clone, Debug)]
pub struct QueryResult<'a> {
    /// Number in the report, from 1.
    pub number: usize,
    /// Number among the queries without parsed identifiers, from 1: the made-up one names it.
    pub unnamed: usize,
    /// What stands in place of the made-up one, if a file names it.
    pub called: Option<&'a [u8]>,
    /// The definition line; with `-parse_deflines` what follows the identifiers.
    pub title: &'a [u8],
    /// The parsed identifiers; empty without `-parse_deflines`.
    pub ids: &'a [SeqId],
    /// The whole query as read, in NCBIstdaa codes; in those of blastna if it is of bases.
    pub residues: &'a [u8],
    /// The searched part of it (`-query_loc`), 0-based half-open; `None` for all.
    pub range: Option<Range<u32>>,
    /// The query as searched: the statistics and masks, relative to the searched part.
    pub query: &'a Query,
    /// What was found, best first; also if only a part of it is formatted here.
    pub hits: &'a [SubjectHit],
    /// How many subjects were found, wherever they are formatted.
    pub hit_count: usize,
    /// False if BLAST+ could search none of the queries that it takes together with this one; it then reports that nothing was
    /// searched in other words than that nothing was found.
    pub batch_searched: bool,
    /// Warnings of the search, as the XML report prints them before `No hits found`; empty if none.
    pub messages: &'a [u8],
    /// Which search of the query this is, if it is one of several.
    pub round: Option<Round<'a>>,
}

/// One of the searches of a query that is searched again with what was found.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// Its number among the searches of all queries, from 1.
    pub serial: usize,
    /// The subjects that the round before found below the threshold for the model; the table of descriptions tells others apart.
    pub known: &'a BTreeSet<u32>,
    /// Alignments found, also of subjects that are not shown: what the comments of format 7 count.
    pub alignments: usize,
    /// Through which occurrence of a pattern the alignments go, if one is searched for.
    pub occurrence: Option<Occurrence<'a>>,
}

/// A pattern, and where it occurs in the query. What is found through each occurrence is reported apart.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence<'a> {
    /// The pattern.
    pub pattern: &'a Pattern,
    /// All places of the query where it occurs.
    pub places: &'a [Range<u32>],
    /// The number of this one, from 0.
    pub number: usize,
}

impl Occurrence<'_> {
    /// The letters of this one.
    pub(crate) fn place(&self) -> &Range<u32> {
        &self.places[self.number]
    }
}

impl<'a> QueryResult<'a> {
    /// Through which occurrence of a pattern the alignments go, if one is searched for.
    pub(crate) fn occurrence(&self) -> Option<Occurrence<'a>> {
        self.round?.occurrence
    }

    /// The reading of the query that an alignment is of.
    pub(crate) fn context(&self, alignment: &Alignment) -> &Context {
        &self.query.contexts[usize::from(alignment.context)]
    }

    /// The reading whose statistics are shown for the query: the first that has some.
    pub(crate) fn statistics(&self) -> &Context {
        let known = self.query.contexts.iter().find(|context| context.karlin.is_some());
        known.unwrap_or_else(|| self.query.first())
    }

    /// How long the query is, and how much of it was searched.
    pub(crate) fn extent(&self) -> Extent {
        let whole = Extent::whole(self.residues.len() as u32);
        self.range.clone().map_or(whole.clone(), |searched| Extent { searched, ..whole })
    }

    /// Length of the searched part.
    pub(crate) fn searched_length(&self) -> usize {
        self.extent().searched.len()
    }

    /// The letters of an alignment's row, which lies at `locus`, without masks; `None` if the query has no such.
    pub(crate) fn view(&self, alignment: &Alignment, locus: &Locus) -> Option<&[u8]> {
        match locus.frame {
            Frame::Protein | Frame::Strand(Strand::Plus) => {
                self.residues.get(locus.covered.start as usize..locus.covered.end as usize)
            }
            // No row shows it so.
            Frame::Strand(Strand::Minus) => None,
            Frame::Codons(..) => {
                let read = alignment.query.start as usize..alignment.query.end as usize;
                self.context(alignment).unmasked.get(read)
            }
        }
    }

    /// The masked stretches of the context that an alignment is of, as those of the whole query as written.
    pub(crate) fn masks(&self, alignment: &Alignment) -> Vec<Range<u32>> {
        let (context, extent) = (self.context(alignment), self.extent());
        let loci = context.masks.iter().filter_map(|mask| Locus::new(context.frame, mask, &extent));
        loci.map(|locus| locus.covered).collect()
    }
}

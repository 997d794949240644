//! The input of a report. The caller fills these structures; nothing here reads files.

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
use fleetblast_stats::release::XmlEncoding;
use serde::{Deserialize, Serialize};

use crate::archive_options::ArchiveRequest;
use crate::archived_name::ArchivedName;
use crate::columns::Columns;
use crate::error::SubjectReadError;
use crate::papers::Citations;
use crate::row_position::{RowPosition, SearchedExtent};

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

    /// Returns the length of the sequence that reports show for subject `oid`.
    fn shown_length(&self, oid: u32) -> u32 {
        self.extent(oid).length
    }

    /// Returns the letters that reports show for `read` (0-based, half-open) of `frame` of the
    /// whole subject `oid`, independent of `-subject_loc`. They are NCBIstdaa codes, or blastna
    /// codes if `frame` is a strand. `None` if the subject has no such letters.
    ///
    /// If [identifiers are shared](Self::shares_identifiers), the shown sequence can be shorter.
    /// Letters beyond its end are gaps; on the minus strand all letters are, if any is beyond it.
    fn report_letters(&self, oid: u32, frame: Frame, read: Range<u32>) -> Option<Cow<'_, [u8]>>;

    /// Returns the letters in which identical letters are counted, for the same arguments as
    /// [`report_letters`](Self::report_letters), in the searched sequence. By default they are
    /// those of `report_letters`.
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

    /// Returns how the archive of a restricted search names the subject; `None` for other reports.
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

    /// Returns the masked ranges of the whole subject as written, ascending. They are its
    /// lower-case letters, if these count as masks.
    fn masks(&self, oid: u32) -> &[Range<u32>] {
        let _ = oid;
        &[]
    }
}

/// A subject from FASTA, as it was read.
#[derive(Clone, Debug)]
pub struct FastaSubject<'a> {
    /// Its identifiers, at least one.
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

/// The output format (`-outfmt`).
#[derive(Clone, Debug, PartialEq)]
pub enum Format {
    /// 0: pairwise.
    Pairwise,
    /// 1 to 4: query-anchored.
    Anchored(AnchoredFormat),
    /// 5: XML.
    Xml,
    /// 6 and 10: tabular and comma separated, which differ in the delimiter only.
    Tabular(Columns),
    /// 7: tabular with comment lines.
    Commented(Columns),
    /// 8, 9 and 12: alignments without sequences, in ASN.1.
    Annotation(AsnEncoding),
    /// 11: BLAST archives in ASN.1.
    Archive(Box<ArchiveRequest>),
    /// 13 to 16: BLAST JSON and BLAST XML2.
    Output2(Output2),
    /// 17: SAM, for nucleotides only.
    Sam(SamOptions),
    /// 18: the organism report.
    Organisms,
}

impl Format {
    /// Returns the columns of a tabular format; `None` for other formats.
    pub fn columns(&self) -> Option<&Columns> {
        match self {
            Format::Tabular(columns) | Format::Commented(columns) => Some(columns),
            _ => None,
        }
    }

    /// Whether the text before a query's subjects has the number of the search among those of all
    /// queries. Only XML counts iterations so.
    pub fn counts_searches(&self) -> bool {
        matches!(self, Format::Xml)
    }

    /// Whether a report is a document in a notation for data: XML, JSON or ASN.1.
    pub fn is_document(&self) -> bool {
        matches!(
            self,
            Format::Xml | Format::Annotation(_) | Format::Archive(_) | Format::Output2(_)
        )
    }

    /// Whether titles or columns of the format can show names of taxa.
    pub fn shows_taxa(&self) -> bool {
        !matches!(self, Format::Xml | Format::Annotation(_) | Format::Archive(_) | Format::Sam(_))
    }
}

/// The form of a query-anchored report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchoredFormat {
    /// Whether insertions open gaps in all rows (3 and 4). Otherwise they are below their rows.
    pub flat: bool,
    /// Whether dots replace letters that are equal to the query's (1 and 3).
    pub dots: bool,
}

/// How values of ASN.1 are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsnEncoding {
    /// As text.
    Text,
    /// By the Basic Encoding Rules: binary.
    Ber,
    /// As JSON.
    Json,
}

/// Options of BLAST JSON and BLAST XML2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output2 {
    /// JSON or XML.
    pub notation: Notation,
    /// The form of the results of a query.
    pub results: Results,
    /// Whether the search starts with a PSSM instead of a query.
    pub starts_with_pssm: bool,
    /// Whether sequences are lost: alignments lack positions and letters, and queries their titles
    /// (an error of later releases of psiblast; see
    /// [`Release`](fleetblast_stats::release::Release)).
    pub lacks_sequences: bool,
    /// Whether each object is a document of its own, and an [index](crate::report_files) names them
    /// (formats 13 and 14).
    pub has_own_documents: bool,
}

/// How the object of a query holds the results of its searches (`Results`, blastxml2.asn).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Results {
    /// One search of a database.
    Search,
    /// A list of searches of FASTA subjects, which have these names.
    Subjects(Vec<Vec<u8>>),
    /// A list of iterations, each with a search of a database.
    Iterations,
}

impl Output2 {
    /// Creates the options for searches of a database.
    pub fn new(notation: Notation) -> Output2 {
        Output2 {
            notation,
            results: Results::Search,
            starts_with_pssm: false,
            lacks_sequences: false,
            has_own_documents: false,
        }
    }
}

/// JSON or XML.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notation {
    /// JSON: names of members have underscores.
    Json,
    /// XML: names of elements have hyphens, and the type of an object is an element, too.
    Xml,
}

/// The options of a report in SAM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamOptions {
    /// `SQ`: show the letters of the aligned sequences.
    pub letters: bool,
    /// `SR`: the subjects are the references, and queries are aligned to them. Otherwise the
    /// queries are the references.
    pub subjects_are_references: bool,
    /// The words of the command line, each followed by a blank.
    pub command: Vec<u8>,
}

impl SamOptions {
    /// Parses the words that follow the number in `-outfmt`. Ignores unknown words.
    ///
    /// ```
    /// use fleetblast_report::model::SamOptions;
    /// let sam = SamOptions::parse("SQ nonsense", b"blastn -outfmt 17 SQ ");
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
    /// 0: by e-value, in the order of the hit list.
    Evalue,
    /// 1: by the best bit score.
    BitScore,
    /// 2: by the sum of the bit scores.
    TotalScore,
    /// 3: by the identity of the best alignment.
    Identity,
    /// 4: by the number of covered residues of the query.
    Coverage,
}

/// Order of the alignments of a subject (`-sorthsps`, format 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HspOrder {
    /// 0: by e-value, in the order of the search.
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

/// The options of the command line that change the report only.
#[derive(Clone, Debug, PartialEq)]
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
    /// Number of rows of the description table: `-num_descriptions`, or the default from other
    /// options.
    pub num_descriptions: usize,
    /// Number of subjects whose alignments are shown: `-num_alignments`, or the default from other
    /// options.
    pub num_alignments: usize,
    /// `-parse_deflines`: the identifiers of queries (and FASTA subjects) were parsed.
    pub parse_deflines: bool,
}

/// The inputs of a report that are the same for all queries of a job.
#[derive(Clone, Debug)]
pub struct ReportSetup<'a> {
    /// Name of the program in lower case, such as `blastp`.
    pub program: &'a str,
    /// The papers that the program cites.
    pub citations: Citations,
    /// The searched databases.
    pub database: DatabaseSummary,
    /// The parameters of the search.
    pub params: &'a Params,
    /// The matrix as the user spelled it; empty for nucleotides.
    pub matrix_name: &'a str,
    /// Length in residues of `-query_loc` as typed. A query can end before the last position of
    /// this range.
    pub query_range_length: Option<usize>,
    /// The options of the report.
    pub output: OutputOptions,
}

impl ReportSetup<'_> {
    /// Returns the program and its version, with which reports begin: `BLASTP 2.12.0+`.
    pub(crate) fn banner(&self) -> String {
        self.params.common().release.banner(self.program)
    }

    /// Returns the encoding of XML.
    pub(crate) fn xml_encoding(&self) -> XmlEncoding {
        self.params.common().release.xml_encoding
    }
}

/// What an archive stores of the search of a query, and reports of the archive show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArchivedQuery {
    /// λ, K and H of ungapped and of gapped alignments; -1 for unknown ones.
    pub parameters: [[f64; 3]; 2],
    /// Whether the archive is of an iteration of psiblast.
    pub is_of_psiblast: bool,
    /// Masks that the report shows for the query, each with the number of its frame.
    pub masks: Vec<(i8, Range<u32>)>,
    /// Whether they are masks of this query. BLAST+ can take those of another one, which the
    /// pairwise report does not show.
    pub has_own_masks: bool,
    /// Number of letters that were searched.
    pub searched_length: usize,
}

/// What archives store of a query as it was read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadQuery<'a> {
    /// The definition line without `>`.
    pub defline: &'a [u8],
    /// Ranges of lower-case letters of the whole query, ascending.
    pub lower_case: &'a [Range<u32>],
    /// What the archive stores of the query's search, if the query comes from an archive.
    pub archived: Option<&'a ArchivedQuery>,
    /// Whether the query has masks of repeats.
    pub has_repeats: bool,
    /// Whether BLAST+ searched a batch before the batch of the query.
    pub follows_searched_batch: bool,
    /// BLAST+'s warnings about its letters and its definition line, as printed.
    pub warnings: &'a [String],
}

/// A query and its hits.
#[derive(Clone, Debug)]
pub struct QueryResult<'a> {
    /// Number of the query in the report, from 1.
    pub number: usize,
    /// Number of the query among those without parsed identifiers, from 1; part of the name
    /// `Query_N`.
    pub unnamed: usize,
    /// Name of the query from a file, used instead of `Query_N`.
    pub name_from_file: Option<&'a [u8]>,
    /// What else was read with the query.
    pub read: ReadQuery<'a>,
    /// The definition line; with `-parse_deflines` the rest of it, after the identifiers.
    pub title: &'a [u8],
    /// The parsed identifiers; empty without `-parse_deflines`.
    pub ids: &'a [SeqId],
    /// Codes of the whole query as read: NCBIstdaa for a protein, blastna for bases.
    pub residues: &'a [u8],
    /// The searched range (`-query_loc`), 0-based and half-open; `None` for the whole query.
    pub range: Option<Range<u32>>,
    /// The query as searched: its statistics and masks, relative to the searched range.
    pub query: &'a Query,
    /// Hits of the query, best first. They include those that another rank formats.
    pub hits: &'a [SubjectHit],
    /// Number of hits of the query, on all ranks.
    pub hit_count: usize,
    /// False if BLAST+ could not search any query of the batch. The report then differs from that
    /// of a search without hits.
    pub batch_searched: bool,
    /// Whether an earlier query of the batch has hits. Only the text before a query's subjects
    /// depends on it.
    pub follows_hits: bool,
    /// Warnings of the search, which XML prints before `No hits found`; empty if there are none.
    pub messages: &'a [u8],
    /// The search that produced this result, if the program searches the query several times.
    pub repeated_search: Option<RepeatedSearch<'a>>,
}

/// One of several searches of a query: an iteration, or the search for an occurrence of a pattern.
#[derive(Clone, Copy, Debug)]
pub struct RepeatedSearch<'a> {
    /// Number of the search among those of its query, from 1.
    pub number: usize,
    /// Number of the search among those of all queries, from 1.
    pub serial: usize,
    /// OIDs of the subjects that the previous iteration found with an e-value below the threshold
    /// for the model. The description table separates them from new ones.
    pub previous_model_oids: &'a BTreeSet<u32>,
    /// Number of alignments of the search, including those of subjects that are not shown. The
    /// comments of format 7 print it.
    pub alignments: usize,
    /// The occurrence of the pattern that the alignments contain, if the user gave a pattern.
    pub occurrence: Option<Occurrence<'a>>,
}

/// A pattern, and its occurrences in the query. Each occurrence has its own hits and report.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence<'a> {
    /// The pattern.
    pub pattern: &'a Pattern,
    /// The ranges of all occurrences in the query.
    pub ranges: &'a [Range<u32>],
    /// Index into `ranges` of the occurrence that this report is about.
    pub number: usize,
}

impl Occurrence<'_> {
    /// Returns the range of the query that the reported occurrence covers.
    pub(crate) fn place(&self) -> &Range<u32> {
        &self.ranges[self.number]
    }
}

impl<'a> QueryResult<'a> {
    /// The occurrence of the pattern that the alignments contain, if the user gave a pattern.
    pub(crate) fn occurrence(&self) -> Option<Occurrence<'a>> {
        self.repeated_search?.occurrence
    }

    /// Returns the context of an alignment.
    pub(crate) fn context(&self, alignment: &Alignment) -> &Context {
        &self.query.contexts[usize::from(alignment.context)]
    }

    /// Returns the context whose statistics reports show for the query: the first one with
    /// statistics, or else the first one.
    pub(crate) fn statistics(&self) -> &Context {
        let known = self.query.contexts.iter().find(|context| context.karlin.is_some());
        known.unwrap_or_else(|| self.query.first())
    }

    /// Returns the messages of XML: warnings of the search, and whether there are no hits.
    pub(crate) fn xml_message(&self) -> Vec<u8> {
        let mut message = self.messages.to_vec();
        if self.hit_count == 0 {
            if !message.is_empty() {
                message.push(b' ');
            }
            message.extend_from_slice(b"No hits found");
        }
        message
    }

    /// Returns the length of the query and its searched range.
    pub(crate) fn extent(&self) -> SearchedExtent {
        let whole = SearchedExtent::fully_searched(self.residues.len() as u32);
        self.range
            .clone()
            .map_or(whole.clone(), |searched| SearchedExtent { searched_range: searched, ..whole })
    }

    /// Returns the length of the searched range.
    pub(crate) fn searched_length(&self) -> usize {
        self.extent().searched_range.len()
    }

    /// Returns the number of letters by which the coverage of an alignment is computed.
    pub(crate) fn covered_length(&self) -> usize {
        self.read.archived.map_or_else(|| self.searched_length(), |it| it.searched_length)
    }

    /// Returns the unmasked letters that reports show in the query's row of an alignment, which is
    /// at `position`. Returns `None` if the query has no such letters.
    pub(crate) fn view(&self, alignment: &Alignment, position: &RowPosition) -> Option<&[u8]> {
        self.letters(alignment.context, position, |letter| {
            alignment.query.start + (letter - position.frame_range.start)
        })
    }

    /// Returns the unmasked letters that reports show at a position. If they are codons,
    /// `in_context` converts a letter of the whole query's frame to one of the context, which
    /// covers the searched range.
    pub(crate) fn letters(
        &self,
        context: u8,
        position: &RowPosition,
        in_context: impl Fn(u32) -> u32,
    ) -> Option<&[u8]> {
        let RowPosition { frame, frame_range, sequence_range } = position;
        let range = |start: u32, end: u32| start as usize..end as usize;
        match frame {
            Frame::Protein | Frame::Strand(Strand::Plus) => {
                self.residues.get(range(sequence_range.start, sequence_range.end))
            }
            // No row shows the query on its minus strand.
            Frame::Strand(Strand::Minus) => None,
            Frame::Codons(..) => {
                let shown = &self.query.contexts[usize::from(context)].shown;
                shown.get(range(in_context(frame_range.start), in_context(frame_range.end)))
            }
        }
    }

    /// Returns the masks of a context, as ranges of the whole query as written. `frame` is the
    /// context's strand or frame as printed: BLAST+ numbers the frames of masks within the searched
    /// range, but looks them up by the alignment's frame number in the whole query.
    pub(crate) fn masks(&self, context: u8, frame: Frame) -> Vec<Range<u32>> {
        if self.query.pssm.is_some() {
            // BLAST+'s results of searches with a PSSM have no masks.
            return Vec::new();
        }
        match frame {
            Frame::Codons(..) => self.stored_masks(frame),
            Frame::Protein | Frame::Strand(_) => {
                self.uncoded_masks(&self.query.contexts[usize::from(context)])
            }
        }
    }

    /// Returns the masks of a query of bases that BLAST+ knows before the search, as ranges of the
    /// whole query, ascending.
    pub(crate) fn known_masks(&self) -> Vec<Range<u32>> {
        let searched = self.query.contexts.iter().find(|context| !context.unmasked.is_empty());
        let mut masks = searched.map_or_else(Vec::new, |context| self.uncoded_masks(context));
        masks.sort_by_key(|mask| mask.start);
        masks
    }

    /// Returns the [masks](Self::masks) of a context, if they are masks of this query.
    pub(crate) fn own_masks(&self, context: u8, frame: Frame) -> Vec<Range<u32>> {
        match self.read.archived {
            Some(archived) if !archived.has_own_masks => Vec::new(),
            _ => self.masks(context, frame),
        }
    }

    /// Returns the masks of a protein or a strand, as ranges of the whole query as written.
    fn uncoded_masks(&self, context: &Context) -> Vec<Range<u32>> {
        if let Some(archived) = self.read.archived {
            return archived.masks.iter().map(|(_, mask)| mask.clone()).collect();
        }
        let extent = self.extent();
        let positions =
            context.masks.iter().filter_map(|mask| RowPosition::new(context.frame, mask, &extent));
        positions.map(|position| position.sequence_range).collect()
    }

    /// Returns the masks that BLAST+ keeps with the results of the query, as ranges of the whole
    /// query, each with its frame. A mask of the whole searched range is none of them
    /// (`Blast_GetSeqLocInfoVector`, blast_aux.cpp). A PSSM has none, nor a batch that could not be
    /// searched.
    pub(crate) fn result_masks(&self) -> Vec<(Frame, Range<u32>)> {
        if self.query.pssm.is_some() || !self.batch_searched {
            return Vec::new();
        }
        let mut masks = Vec::new();
        for context in &self.query.contexts {
            match context.frame {
                Frame::Codons(..) => {
                    let stored = self.stored_masks(context.frame).into_iter();
                    masks.extend(stored.map(|mask| (context.frame, mask)));
                }
                Frame::Protein | Frame::Strand(_) if masks.is_empty() => {
                    // Masks of a strand have no frame, and ascend on the sequence as written.
                    let found = self.uncoded_masks(context).into_iter();
                    masks.extend(found.map(|mask| (Frame::Protein, mask)));
                    masks.sort_by_key(|(_, mask)| mask.start);
                }
                // The masks of the other strand are the same ones.
                Frame::Protein | Frame::Strand(_) => {}
            }
        }
        let searched = self.extent().searched_range;
        masks.retain(|(_, mask)| *mask != searched);
        masks
    }

    /// Returns the masks that BLAST+ stores for a codon frame, as ranges of the whole query.
    fn stored_masks(&self, frame: Frame) -> Vec<Range<u32>> {
        if let Some(archived) = self.read.archived {
            let same = archived.masks.iter().filter(|(number, _)| *number == frame.number());
            return same.map(|(_, mask)| mask.clone()).collect();
        }
        let (extent, length) = (self.extent(), self.searched_length() as i64);
        let same = self.query.contexts.iter().filter(|other| other.frame == frame);
        // On the plus strand the range runs from the first base of the first residue to the first
        // base of the last one. On the minus strand it runs from the base after the last residue to
        // the last base of the first residue (`BlastMaskLocProteinToDNA`, blast_filter.c).
        let number = i64::from(frame.number());
        let bases = |mask: &Range<u32>| {
            let [first, last] = [mask.start, mask.end - 1].map(|residue| 3 * i64::from(residue));
            let (from, to) = match number < 0 {
                true => (length - last + number + 1, length - first + number),
                false => (first + number - 1, last + number - 1),
            };
            let [from, to] = [from, to].map(|base| base.clamp(0, length - 1) as u32);
            extent.searched_range.start + from..extent.searched_range.start + to + 1
        };
        let masks = same.flat_map(|other| &other.masks).map(bases);
        masks.filter(|mask| !mask.is_empty()).collect()
    }
}

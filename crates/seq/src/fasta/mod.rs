//! Reads FASTA as `blastp` and `blastn` read queries and `-subject` sequences (`fasta.cpp`,
//! `blast_fasta_input.cpp`). All rules were established by running BLAST+ 2.12.0.
//!
//! **Lines** end with LF, CR LF or CR; the last one may lack its end. (If a file mixes them, BLAST+
//! can count lines differently or join two lines. Here each of them ends a line.) Blank lines and
//! lines whose first visible character is `;`, `!` or `#` are skipped anywhere. A line with `>` in
//! its first column starts a record; `>?_x` means `>x`.
//!
//! **Residues.** Columns do not count the white space around a line. Letters of either case are
//! residues (all 26, including `U`, `O`, `J`), as is `*`. Lower case marks a mask and is stored as
//! upper case. `;` makes the rest of the line a comment. `-` is dropped with a warning. Blanks and
//! tabs are dropped silently. All other characters, including digits, are dropped with a warning
//! that names the columns. A line `>?100` or `>?unk100` means that number of `X`. Its modifiers
//! `[key=value]` have no effect (BLAST+ warns of invalid ones).
//!
//! **Bases.** If nucleotides are expected, the 15 IUPAC letters and `U` (read as `T`) are bases,
//! and a gap line means `N`s. Other residues of proteins are dropped with the same warning. They
//! become `N` if the identifier is that of a protein.
//!
//! **Not FASTA.** As long as a record has no residues, each line must look like sequence. In its
//! first 70 columns, the characters other than residues, digits, white space and `-` must be fewer
//! than a third of the residues ([`FastaErrorKind::NotSequence`]). A file of blank lines and
//! comments has no record.
//!
//! **Definition lines.** The title runs from the first character that is not white space to the
//! next control character (tab, Ctrl-A, NUL). Its first word, up to a blank, is the identifier,
//! whatever its form (`x:1-10`, `lcl|a`). The first record may lack its definition line. It then
//! has no title.
//!
//! With [`Options::parse_deflines`] the word up to the first blank or control character is parsed
//! by [`parse_fasta_ids`](crate::id::parse_fasta_ids), and the title follows it. If the word ends
//! with a range such as `:1-10` or `:c10-1`, BLAST+ drops the identifiers. A bracket that starts
//! `[key=` ends the word. If the identifier is of a nucleotide database (`L00738`), only nucleotide
//! codes are valid letters. The definition line is then mandatory.
//!
//! **Identifiers instead of sequences.** If a record starts with a letter or digit, BLAST+ first
//! treats it as an identifier to fetch from NCBI (`P69905`, `12345`, `gi|129295`). This reader
//! refuses such records ([`FastaErrorKind::Identifier`]).

mod data;
pub mod database;
mod defline;
mod error;
mod gap;
mod line;
mod masked;

use std::io::BufRead;
use std::ops::Range;
use std::path::{Path, PathBuf};

use self::data::Residues;
use self::database::GapEffect;
use self::defline::ParsedDefline;
pub use self::error::{FastaError, FastaErrorKind, GapLineWarning, Warning};
use self::line::Lines;
use self::masked::Masks;
use crate::convert::trim_spaces;
use crate::id::{Molecule, SeqId};

/// Options for reading FASTA.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether to parse identifiers from the first word (`-parse_deflines`, `-parse_seqids`).
    pub parse_deflines: bool,
    /// The program whose rules apply.
    pub rules: Rules,
    /// The character that ends an identifier.
    pub id_end: IdEnd,
    /// Whether all characters of a local identifier are checked, not only the first one.
    pub checks_whole_ids: bool,
}

/// The character that ends the identifier at the start of a definition line, besides a blank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdEnd {
    /// The bracket of `[key=value]`.
    #[default]
    Bracket,
    /// A byte beyond ASCII (since 2.16.0).
    NonAscii,
}

/// The rules by which a program of BLAST+ reads FASTA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The rules for queries and `-subject` sequences of this molecule type.
    Query(Molecule),
    /// The rules of `makeblastdb` for a database of this molecule type; see [`database`].
    Database(Molecule),
    /// The rules of `convert2blastmask`, which reads masks from lower-case letters or from lines
    /// such as `5 - 9`. Only the masks of a sequence are kept, in [`Record::lower_case`].
    Masks,
}

impl Default for Rules {
    fn default() -> Self {
        Rules::Query(Molecule::Protein)
    }
}

impl Rules {
    /// Returns the expected type of sequences.
    pub fn molecule(self) -> Molecule {
        match self {
            Rules::Query(molecule) | Rules::Database(molecule) => molecule,
            // The rules for definition lines are those for proteins.
            Rules::Masks => Molecule::Protein,
        }
    }

    /// Returns whether these are the rules for queries and `-subject` sequences.
    pub fn is_query(self) -> bool {
        matches!(self, Rules::Query(_))
    }
}

/// One sequence of a FASTA file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The definition line without `>` and line end; empty if there is none.
    pub defline: Vec<u8>,
    /// Whether the sequence has a definition line.
    pub has_defline: bool,
    /// The title that BLAST+ extracts from the definition line.
    pub title: Vec<u8>,
    /// The identifiers, parsed with [`Options::parse_deflines`]. Empty if BLAST+ generates an
    /// identifier: without that option, without a first word, or if the word ends with a range.
    pub ids: Vec<SeqId>,
    /// The identifiers of a first word that ends with a range, such as `x:1-10`. BLAST+ keeps them
    /// only as the origin of the sequence.
    pub ranged_ids: Vec<SeqId>,
    /// The residues in NCBIstdaa. Bases of queries are in blastna, and bases for a database in
    /// ncbi4na, one per byte.
    pub residues: Vec<u8>,
    /// The effect of hyphens and gap lines on the record, for nucleotide databases only.
    pub gaps: GapEffect,
    /// Runs of lower-case letters, ascending. By the rules for databases there are none.
    pub lower_case: Vec<Range<u32>>,
    /// Number of the record's first line in the input, from 1.
    pub line: u64,
    /// BLAST+'s warnings on standard error, in its order.
    pub warnings: Vec<Warning>,
}

impl Record {
    /// Returns the first word of the title; empty if there is no title. Without
    /// [`Options::parse_deflines`] reports print it as the identifier.
    pub fn first_word(&self) -> &[u8] {
        self.title.split(|&c| c == b' ').next().unwrap_or_default()
    }
}

/// Reader of FASTA records, one at a time. It keeps at most one record and one line in memory.
///
/// ```
/// use fleetblast_seq::fasta::{Options, Reader};
/// let text = b">q1 my protein\nMKT1AY\nfhk*\n";
/// let mut reader = Reader::new(&text[..], "example.fa", Options::default());
/// let record = reader.next_record()?.unwrap();
/// assert_eq!(record.first_word(), b"q1");
/// assert_eq!(record.residues.len(), 9);
/// assert_eq!(record.lower_case, [5..8]);
/// assert_eq!(
///     record.warnings[0].to_string(),
///     "FASTA-Reader: Ignoring invalid residues at position(s): On line 2: 4"
/// );
/// assert!(reader.next_record()?.is_none());
/// # Ok::<(), fleetblast_seq::fasta::FastaError>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    options: Options,
}

impl<R: BufRead> Reader<R> {
    /// Creates a reader of `input`. Errors call the input `name`: the path as the user gave it.
    pub fn new(input: R, name: impl Into<PathBuf>, options: Options) -> Self {
        Self { lines: Lines::new(input, name.into()), options }
    }

    /// Returns the options of the reader.
    pub fn options(&self) -> Options {
        self.options
    }

    /// Sets the number of lines before the start of the input, so that errors have the right line
    /// numbers.
    pub fn with_lines_before(mut self, lines: u64) -> Self {
        self.lines.count_from(lines);
        self
    }

    /// Returns the name of the input.
    pub fn name(&self) -> &Path {
        self.lines.name()
    }

    /// Reads the next record; `None` at the end of the input.
    ///
    /// # Errors
    /// [`FastaError`]. The reader cannot be used afterwards.
    pub fn next_record(&mut self) -> Result<Option<Record>, FastaError> {
        if !self.lines.advance()? {
            return Ok(None);
        }
        if self.options.rules.is_query() {
            self.refuse_identifier()?;
        }
        let mut draft: Option<Draft> = None;
        let mut is_last = true;
        loop {
            let (line, number) = (self.lines.current(), self.lines.number());
            if let Some(text) = defline::defline_text(line) {
                if draft.is_some() {
                    self.lines.push_back();
                    is_last = false;
                    break;
                }
                let mut warnings = Vec::new();
                let parsed = match defline::parse(text, number, self.options, &mut warnings) {
                    Ok(parsed) => parsed,
                    Err(problem) => return Err(self.error(problem, warnings)),
                };
                let text = Some(text.to_vec());
                draft = Some(Draft::new(self.options.rules, text, parsed, warnings, number));
            } else {
                let line = trim_spaces(line);
                if !matches!(line.first(), None | Some(b'!' | b'#' | b';')) {
                    if draft.is_none() && self.needs_defline() {
                        return Err(self.error(FastaErrorKind::NoDefline, Vec::new()));
                    }
                    let draft = draft.get_or_insert_with(|| {
                        Draft::new(
                            self.options.rules,
                            None,
                            ParsedDefline::default(),
                            Vec::new(),
                            number,
                        )
                    });
                    if let Err(problem) = draft.add(line, number) {
                        let warnings = std::mem::take(&mut draft.record.warnings);
                        return Err(self.error(problem, warnings));
                    }
                }
            }
            if !self.lines.advance()? {
                break;
            }
        }
        if draft.is_none() && !self.options.rules.is_query() {
            return Err(self.error(FastaErrorKind::NoRecord, Vec::new()));
        }
        // The line before the next definition line is the last one of the record.
        let line = self.lines.number() - u64::from(!is_last);
        let finished = draft.map(Draft::finish).transpose();
        finished.map_err(|problem| self.error_at(line, problem, Vec::new()))
    }

    /// Returns whether a sequence without a definition line is an error.
    fn needs_defline(&self) -> bool {
        self.options.parse_deflines || !self.options.rules.is_query()
    }

    /// Creates the error for the current line.
    fn error(&self, problem: FastaErrorKind, warnings: Vec<Warning>) -> FastaError {
        self.error_at(self.lines.number(), problem, warnings)
    }

    fn error_at(&self, line: u64, problem: FastaErrorKind, warnings: Vec<Warning>) -> FastaError {
        FastaError::Invalid { file: self.lines.name().to_path_buf(), line, problem, warnings }
    }

    /// Refuses a record that starts with an identifier. BLAST+ tries the first line of a record as
    /// an identifier before it reads the line as residues.
    fn refuse_identifier(&self) -> Result<(), FastaError> {
        let line = trim_spaces(self.lines.current());
        if defline::is_identifier(line) {
            let text = String::from_utf8_lossy(line).into_owned();
            return Err(self.error(FastaErrorKind::Identifier(text), Vec::new()));
        }
        Ok(())
    }
}

/// A record that is being read.
#[derive(Debug)]
struct Draft {
    record: Record,
    suspicious_title: Option<Warning>,
    residues: Data,
}

/// The residues of a record that is being read.
#[derive(Debug)]
enum Data {
    /// Residues by the rules for queries.
    Query(Residues),
    /// Residues by the rules for databases.
    Database(database::Residues),
    /// Masks without residues.
    Masks(Masks),
}

impl Draft {
    fn new(
        rules: Rules,
        defline: Option<Vec<u8>>,
        parsed: ParsedDefline,
        warnings: Vec<Warning>,
        line: u64,
    ) -> Self {
        let molecule = parsed.ids.iter().find_map(SeqId::molecule);
        let record = Record {
            has_defline: defline.is_some(),
            defline: defline.unwrap_or_default(),
            title: parsed.title,
            ids: parsed.ids,
            ranged_ids: parsed.ranged_ids,
            line,
            warnings,
            ..Record::default()
        };
        let residues = match rules {
            Rules::Query(expected) => Data::Query(Residues::new(expected, molecule)),
            Rules::Database(molecule) => Data::Database(database::Residues::new(molecule)),
            Rules::Masks => Data::Masks(Masks::new(molecule)),
        };
        Self { record, suspicious_title: parsed.suspicious, residues }
    }

    fn add(&mut self, line: &[u8], number: u64) -> Result<(), FastaErrorKind> {
        let warnings = &mut self.record.warnings;
        match &mut self.residues {
            Data::Query(residues) => residues.add_line(line, number, warnings),
            Data::Database(residues) => residues.add_line(line, number, warnings),
            Data::Masks(masks) => masks.add_line(line, number),
        }
    }

    fn finish(self) -> Result<Record, FastaErrorKind> {
        let Self { mut record, suspicious_title, residues } = self;
        match residues {
            Data::Query(residues) => (record.residues, record.lower_case) = residues.finish(),
            Data::Database(residues) => (record.residues, record.gaps) = residues.finish(),
            Data::Masks(masks) => record.lower_case = masks.finish()?,
        }
        record.warnings.extend(suspicious_title);
        Ok(record)
    }
}

#[cfg(test)]
mod tests;

//! The options of `blastdbcmd` in types of their own.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use fleetblast_db::SequenceKind;
use fleetblast_job::error::Error;
use fleetblast_job::standard;

use crate::options::blastdbcmd::BLASTDBCMD;
use crate::options::number;
use crate::options::parse::Given;
use crate::options::values::Values;

/// Taxids to look for, ascending.
pub(super) type Taxids = BTreeSet<i32>;

/// What was typed.
#[derive(Debug)]
pub(super) struct Options {
    /// `-db`.
    pub(super) db: OsString,
    /// `-dbtype`; `None` to guess.
    pub(super) kind: Option<SequenceKind>,
    pub(super) what: What,
    /// `-range`.
    pub(super) range: Option<OsString>,
    /// `-strand minus`.
    pub(super) minus: bool,
    /// `-mask_sequence_with`.
    pub(super) mask: Option<OsString>,
    /// `-out`.
    pub(super) out: OsString,
    /// `-outfmt`.
    pub(super) outfmt: Vec<u8>,
    /// `-target_only`.
    pub(super) target_only: bool,
    /// `-get_dups`.
    pub(super) get_dups: bool,
    /// `-line_length`, at least 1.
    pub(super) line_length: usize,
    /// `-ctrl_a`.
    pub(super) ctrl_a: bool,
    /// `-long_seqids`.
    pub(super) long_seqids: bool,
    /// `-logfile`.
    pub(super) logfile: Option<OsString>,
}

/// What to do; of several, the first one here.
#[derive(Debug)]
pub(super) enum What {
    /// `-show_blastdb_search_path`.
    SearchPath,
    /// `-list`.
    List(List),
    /// `-info`.
    Info {
        /// `-exact_length`.
        exact_length: bool,
    },
    /// `-tax_info`.
    TaxInfo,
    /// Sequences.
    Entries(Wanted),
}

/// Which sequences.
#[derive(Debug)]
pub(super) enum Wanted {
    /// `-taxids`.
    Taxids(OsString),
    /// `-taxidlist`.
    TaxidFile(OsString),
    /// `-entry all`.
    All,
    /// `-entry_batch`.
    Batch(OsString),
    /// `-entry`.
    Ids(Vec<u8>),
    /// No option tells.
    Nothing,
}

/// `-list` and what goes with it.
#[derive(Debug)]
pub(super) struct List {
    pub(super) directory: OsString,
    pub(super) recursive: bool,
    pub(super) remove_redundant: bool,
    /// `-list_outfmt`.
    pub(super) format: Vec<u8>,
}

impl Options {
    /// Reads the options given.
    ///
    /// # Errors
    /// Options that FleetBLAST refuses, and options that need another one.
    pub(super) fn new(given: &Given) -> Result<Self, Error> {
        let values = Values::new(&BLASTDBCMD, given);
        if let Some(name) = values.unsupported() {
            return Err(Error::unsupported(BLASTDBCMD.name, format_args!("-{name}")));
        }
        let text = |name: &str| values.text(name).unwrap_or_default();
        Ok(Self {
            db: text("db"),
            kind: match text("dbtype").as_bytes() {
                b"prot" => Some(SequenceKind::Protein),
                b"nucl" => Some(SequenceKind::Nucleotide),
                _ => None,
            },
            what: What::new(values)?,
            range: values.text("range"),
            minus: text("strand") == "minus",
            mask: values.text("mask_sequence_with"),
            out: text("out"),
            outfmt: text("outfmt").into_vec(),
            target_only: values.flag("target_only"),
            get_dups: values.flag("get_dups"),
            line_length: values.integer("line_length").unwrap_or(80),
            ctrl_a: values.flag("ctrl_a"),
            long_seqids: values.flag("long_seqids"),
            logfile: values.text("logfile"),
        })
    }
}

impl What {
    fn new(values: Values<'_>) -> Result<Self, Error> {
        if values.flag("show_blastdb_search_path") {
            return Ok(Self::SearchPath);
        }
        if let Some(directory) = values.text("list") {
            return Ok(Self::List(List {
                directory,
                recursive: values.flag("recursive"),
                remove_redundant: values.flag("remove_redundant_dbs"),
                format: values.text("list_outfmt").unwrap_or_default().into_vec(),
            }));
        }
        // These keep BLAST+ from reading -db, and mean nothing without -list.
        if ["recursive", "remove_redundant_dbs", "list_outfmt"].iter().any(|name| values.flag(name))
        {
            return Err(Error::new(
                fleetblast_job::error::exit::INPUT,
                "Command line argument error: Argument \"db\". The value is excluded by other arguments.",
            ));
        }
        if values.flag("info") {
            return Ok(Self::Info { exact_length: values.flag("exact_length") });
        }
        if values.flag("tax_info") {
            return Ok(Self::TaxInfo);
        }
        Ok(Self::Entries(Wanted::new(values)))
    }
}

impl Wanted {
    fn new(values: Values<'_>) -> Self {
        if let Some(taxids) = values.text("taxids") {
            return Self::Taxids(taxids);
        }
        if let Some(path) = values.text("taxidlist") {
            return Self::TaxidFile(path);
        }
        match (values.text("entry"), values.text("entry_batch")) {
            (Some(entry), _) if entry == "all" => Self::All,
            (_, Some(path)) => Self::Batch(path),
            (Some(entry), None) => Self::Ids(entry.into_vec()),
            (None, None) => Self::Nothing,
        }
    }

    /// The taxids, if sequences are wanted by these.
    pub(super) fn taxids(&self) -> Result<Option<Taxids>, Error> {
        let text = match self {
            Self::Taxids(text) => text.as_bytes().to_vec(),
            Self::TaxidFile(path) => lines_of("taxidlist", path)?,
            _ => return Ok(None),
        };
        let separator = if matches!(self, Self::Taxids(_)) { b',' } else { b'\n' };
        let words = text.split(|&b| b == separator);
        // Empty lines are none; nothing between commas is.
        let words = words.filter(|word| separator == b',' && !text.is_empty() || !word.is_empty());
        let taxid = |word: &[u8]| number::parse_int4(word.trim_ascii()).map_err(Error::from);
        words.map(taxid).collect::<Result<_, _>>().map(Some)
    }
}

/// The contents of a file named by an option.
pub(super) fn lines_of(option: &str, path: &OsStr) -> Result<Vec<u8>, Error> {
    let contents = if path == "-" {
        let mut text = Vec::new();
        let read = standard::input().and_then(|input| input.lock().read_to_end(&mut text));
        read.map(|_| text)
    } else {
        fs::read(path)
    };
    contents.map_err(|_| Error::inaccessible(option, &path.to_string_lossy()))
}

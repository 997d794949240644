//! `blastdbcmd`: retrieves sequences from databases, and describes databases.
//!
//! Messages, exit codes and the output before an error are those of BLAST+ (`blastdbcmd.cpp`).

mod asn;
mod config;
mod entries;
mod fasta;
mod fields;
mod header;
mod info;
mod letters;
mod list;
mod messages;
mod options;
mod source;
mod tax_info;

use std::fs;

use fleetblast_db::{DbError, SearchPath, TaxonTree};
use fleetblast_job::error::{Error, exit};
use fleetblast_job::output::{Output, leave_empty, resolve_replaced_path};
use fleetblast_job::plan::Destination;

use self::config::Config;
use self::fasta::Fasta;
use self::fields::{Fields, Layout};
use self::options::{Operation, Options};
use self::source::Source;
use crate::messages::complain;
use crate::options::compat;
use crate::options::parse::GivenOptions;
use crate::plan;
use crate::taxa;

/// The reason why a retrieval of sequences ends early.
#[derive(Debug)]
enum Stop {
    /// An error of the retrieval, with exit code 1.
    Message(String),
    /// An error that ends the whole program.
    Program(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Program(error)
    }
}

impl From<DbError> for Stop {
    fn from(error: DbError) -> Self {
        match error.missing_detail() {
            Some(detail) => Self::Message(format!("{error}\n({detail})")),
            None => Self::Message(error.to_string()),
        }
    }
}

/// The output format of sequences: FASTA, ASN.1, or lines of fields.
enum Format {
    Fasta(Fasta),
    Bioseq,
    Deflines,
    Fields(Fields),
}

impl Format {
    fn new(layout: Layout, options: &Options) -> Result<Self, Stop> {
        match layout {
            Layout::Fasta => Ok(Self::Fasta(Fasta::new(options))),
            Layout::Bioseq => Ok(Self::Bioseq),
            Layout::Deflines => Ok(Self::Deflines),
            Layout::Lines(layout) => Ok(Self::Fields(Fields::new(&layout)?)),
        }
    }

    /// Appends one sequence to `out`; with `target`, only that definition line of it. After an
    /// error `out` holds the output of BLAST+ from before the error.
    fn write(
        &self,
        source: &Source,
        oid: u32,
        config: &Config,
        target: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let before = out.len();
        let written = match self {
            Self::Fasta(fasta) => fasta.write(source, oid, config, target, out),
            Self::Bioseq => asn::write_bioseq(source, oid, target, out),
            Self::Deflines => asn::write_deflines(source, oid, target, out),
            Self::Fields(fields) => fields.write(source, oid, config, target, out),
        };
        source.check_taxonomy().inspect_err(|_| out.truncate(before))?;
        written
    }
}

/// Runs `blastdbcmd`.
///
/// # Errors
/// A message and BLAST+'s exit code.
pub fn run(given: &GivenOptions) -> Result<(), Error> {
    let options = Options::new(given)?;
    let target = plan::input::destination("out", &options.out)?;
    let mut out = Output::open(&target)?;
    let done = request(&options, &mut out);
    match &done {
        // After an error of the database, an older output file stays.
        Err(error) if error.exit_code == exit::DATABASE => {
            drop(out);
            leave_empty(&target);
        }
        // After any other error, the output from before it stays, but does not replace an older
        // file.
        Err(error) if !error.is_silent() && has_older(&target) => drop(out),
        _ => out.commit()?,
    }
    done
}

/// Returns whether the output is an existing file that is not empty.
fn has_older(target: &Destination) -> bool {
    let Destination::File(path) = target else { return false };
    let older = resolve_replaced_path(path).and_then(|wanted| fs::metadata(wanted).ok());
    older.is_some_and(|older| older.is_file() && older.len() > 0)
}

fn request(options: &Options, out: &mut Output) -> Result<(), Error> {
    let search = compat::search_path(options.release)?;
    match &options.what {
        Operation::SearchPath => out.write(format!("{}\n", search.display_text()).as_bytes()),
        Operation::List(list) => list::write(list, options, out),
        Operation::Info { exact_length } => {
            let source = Source::open_to_describe(options, search)?;
            info::write(&source, *exact_length, out)
        }
        Operation::Metadata { prefix } => {
            let source = Source::open_to_describe(options, search)?;
            out.write(&source.metadata(options, prefix)?)
        }
        Operation::TaxInfo => {
            let source = Source::open_to_retrieve(options, search)?;
            tax_info::write(&source, options, out)
        }
        Operation::Entries(wanted) => {
            let taxids = wanted.taxids(options.release, || open_tree(options, &search))?;
            let opened = Source::open_for(options, search, taxids.as_ref());
            let found = opened.and_then(|source| {
                let found = retrieve(options, &source, wanted, taxids.as_ref(), out);
                source.odd_headers().iter().for_each(|odd| messages::warn(&odd.to_string()));
                found
            });
            match found {
                Ok(true) => Ok(()),
                Ok(false) => Err(Error::silent(exit::INPUT)),
                Err(Stop::Program(error)) => Err(error),
                Err(Stop::Message(message)) => {
                    Err(Error::new(exit::INPUT, messages::format_message(&message)))
                }
            }
        }
    }
}

/// Opens the taxonomy if taxids stand for taxa with their descendants. Returns `None` if they do
/// not, or if no taxonomy is installed; taxids are then used as given.
fn open_tree(options: &Options, search: &SearchPath) -> Result<Option<TaxonTree>, Error> {
    if !options.expands_taxa() {
        return Ok(None);
    }
    let mut warnings = Vec::new();
    let tree = taxa::find_tree(search, &mut warnings);
    warnings.iter().for_each(|warning| complain(warning));
    tree
}

/// Retrieves sequences. Returns whether all of them exist.
fn retrieve(
    options: &Options,
    source: &Source,
    wanted: &options::Selection,
    taxids: Option<&options::Taxids>,
    out: &mut Output,
) -> Result<bool, Stop> {
    let mut config = Config::new(options, source);
    let layout = fields::layout(&options.outfmt, &mut config, source)?;
    config.select(options, source)?;
    let format = Format::new(layout, options)?;
    let retrieval = entries::Retrieval { options, source, format: &format };
    retrieval.run(wanted, taxids, config, out)
}

//! `-import_search_strategy`: the command line of a stored search, with the options of this run
//! that BLAST+ lets override it (`RecoverSearchStrategy`, blast_app_util.cpp;
//! `CBlastAppArgs::SetOptionsForSavedStrategy`, blast_args.cpp).

mod ignored;
mod queries;
mod words;

use std::ffi::{OsStr, OsString};

use fleetblast_job::error::Error;
use fleetblast_job::plan::{Format, Plan, Source};
use fleetblast_report::archive_reader::{
    StoredQueries, StoredRequest, StrategyError, read_strategy,
};
use fleetblast_seq::asn::AsnError;
use fleetblast_seq::id::Molecule;

use crate::options::compat;
use crate::options::parse::{GivenOptions, Value};
use crate::options::search::strategy::IMPORT_SEARCH_STRATEGY;
use crate::options::search::{database, files, outfmt};
use crate::options::spec::{Group, Program};
use crate::options::values::Values;
use crate::plan::ProcessEnvironment;
use crate::plan::format::{ALIGNMENTS, DESCRIPTIONS, FormatChoice};
use crate::stored_search::{StoredOptions, asn_reader};
use crate::text_file::read_text_file;

/// Options of the command line that a strategy does not replace, beside those for the subjects.
const OVERRIDING: [&str; 17] = [
    "query",
    "query_loc",
    "strand",
    "lcase_masking",
    "parse_deflines",
    "out",
    "outfmt",
    "show_gis",
    "html",
    "num_descriptions",
    "num_alignments",
    "max_target_seqs",
    "line_length",
    "sorthits",
    "sorthsps",
    "num_threads",
    "mt_mode",
];

/// Whether an option is one for the subjects. These override the stored ones together with `-db` or
/// `-subject`.
fn is_of_subjects(name: &str) -> bool {
    let lists =
        [database::LISTS, database::IDENTICAL_PROTEINS, database::MASKS, database::SUBJECTS];
    lists.into_iter().flatten().any(|option| option.name == name)
}

/// Options of FleetBLAST that may be given beside a strategy.
const OWN: [&str; 6] = ["compat", "timing", "partitions", "loader", "memory", "progress"];

/// A search by a strategy.
pub struct ImportedSearch {
    /// The options of the search.
    pub given: GivenOptions,
    /// BLAST+'s warnings before it reads the other options.
    pub warnings: Vec<String>,
    /// BLAST+'s warnings after it has read the other options.
    ignored: Vec<String>,
    /// The stored queries; `None` if the command line names others.
    queries: Option<Vec<u8>>,
    /// The number of alignments in a text report, if the options cannot express it.
    num_alignments: Option<usize>,
}

impl ImportedSearch {
    /// Reads the strategy that the command line names; `None` without one.
    ///
    /// # Errors
    /// A file that is no strategy; a stored search or an option that is not supported.
    pub fn read(
        program: &Program,
        arguments: &[OsString],
        given: &GivenOptions,
    ) -> Result<Option<ImportedSearch>, Error> {
        let Some(Value::Text(path)) = given.get(IMPORT_SEARCH_STRATEGY.name()) else {
            return Ok(None);
        };
        let program = program.in_release(compat::given_release(given));
        refuse_others(&program, given)?;
        let request = read_request(&program, path)?;
        let importer = Importer { program, given, request: &request };
        importer.import(arguments).map(Some)
    }

    /// Completes the plan of the search, and the warnings of planning.
    ///
    /// # Errors
    /// An archive as report.
    pub fn complete(&self, plan: &mut Plan, warnings: &mut Vec<String>) -> Result<(), Error> {
        warnings.extend_from_slice(&self.ignored);
        if plan.report.format == Format::Archive {
            return Err(unsupported_error(
                &plan.program,
                "-outfmt 11 with -import_search_strategy",
            ));
        }
        if let Some(queries) = &self.queries {
            plan.query = Source::Text(queries.clone());
        }
        if let Some(number) = self.num_alignments {
            plan.report.num_alignments = number;
        }
        Ok(())
    }
}

fn unsupported_error(program: &str, what: &str) -> Error {
    Error::unsupported(program, what)
}

/// Refuses options that FleetBLAST does not support, or not with a strategy.
fn refuse_others(program: &Program, given: &GivenOptions) -> Result<(), Error> {
    if let Some(error) = Values::new(program, given).unsupported() {
        return Err(error);
    }
    let is_own = |name: &str| {
        let option = program.find(name);
        option.is_some_and(|option| option.group == Group::FLEETBLAST) && !OWN.contains(&name)
    };
    let with_strategy = |what: &str| {
        unsupported_error(program.name, &format!("{what} with -{}", IMPORT_SEARCH_STRATEGY.name()))
    };
    if let Some(name) = given.keys().find(|name| is_own(name)) {
        return Err(with_strategy(&format!("-{name}")));
    }
    if ProcessEnvironment::current().is_rank {
        return Err(with_strategy("a search by several processes"));
    }
    Ok(())
}

/// Reads the first strategy of a file.
fn read_request(program: &Program, path: &OsStr) -> Result<StoredRequest, Error> {
    let text = read_text_file(IMPORT_SEARCH_STRATEGY.name(), path)?;
    let mut reader = asn_reader(&text[..], text.first().copied());
    read_strategy(&mut reader).map_err(|error| {
        let why = match error {
            StrategyError::UnknownSearch(unknown) => {
                return words::other_search_error(program, &unknown.program, &unknown.service);
            }
            StrategyError::Asn(AsnError::Io(error)) => error.to_string(),
            StrategyError::Asn(AsnError::Malformed(malformed)) => {
                format!("{}: {malformed}", reader.place())
            }
        };
        let mut invalid = Error::query_options("Failed to read search strategy");
        invalid.message.push_str(&format!("\n({}: {why})", path.to_string_lossy()));
        invalid
    })
}

/// The sources of a search by a strategy: the program, the options given, and the stored request.
struct Importer<'a> {
    program: Program,
    given: &'a GivenOptions,
    request: &'a StoredRequest,
}

impl Importer<'_> {
    fn has(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    fn import(&self, arguments: &[OsString]) -> Result<ImportedSearch, Error> {
        let overrides_subjects = self.has("db") || self.has("subject");
        let query = Values::new(&self.program, self.given).get(&files::QUERY);
        let overrides_query = query != "-";
        let mut given = words::stored_options(&self.program, self.request)?;
        if overrides_subjects {
            let stays = |name: &str| ["db", "dbsize"].contains(&name) || !is_of_subjects(name);
            given.retain(|name, _| stays(name));
        } else {
            let name = self.program.find("db").map_or("db", |option| option.name);
            given.insert(name, Value::Text(words::database(&self.program, self.request)?));
        }
        let queries = if overrides_query {
            None
        } else {
            if let (Some(range), false) = (self.request.searched_range, self.has("query_loc")) {
                given.insert("query_loc", words::query_range(&self.program, range)?);
            }
            Some(self.queries()?)
        };
        let is_kept = |name: &str| {
            OVERRIDING.contains(&name)
                || OWN.contains(&name)
                || overrides_subjects && is_of_subjects(name)
        };
        let kept = self.given.iter().filter(|(name, _)| is_kept(name));
        given.extend(kept.map(|(name, value)| (*name, value.clone())));
        let num_alignments = self.limit_subjects(&mut given);
        let overriding = [(overrides_subjects, "database/subject"), (overrides_query, "query")];
        let warning = |what: &str| {
            format!("Warning: [{}] Overriding {what} in saved strategy", self.program.name)
        };
        Ok(ImportedSearch {
            given,
            warnings: overriding
                .iter()
                .filter(|(overrides, _)| *overrides)
                .map(|(_, what)| warning(what))
                .collect(),
            ignored: ignored::warnings(&self.program, arguments, self.given, self.request),
            queries,
            num_alignments,
        })
    }

    /// Returns the stored queries as FASTA.
    fn queries(&self) -> Result<Vec<u8>, Error> {
        let refused = |what: &str| unsupported_error(self.program.name, what);
        match &self.request.queries {
            StoredQueries::Sequences(all) => {
                let release = Values::new(&self.program, self.given).release();
                let molecule = self.request.program.properties().queries.molecule();
                let are_bases = molecule == Molecule::Nucleotide;
                queries::fasta(all, are_bases, release)
                    .map_err(|what| refused(&format!("a search strategy with {what}")))
            }
            StoredQueries::Locations => {
                Err(refused("a search strategy with queries that are only identifiers"))
            }
            StoredQueries::Pssm(_) => Err(refused("a search strategy with a PSSM")),
        }
    }

    /// Applies the stored number of subjects that the search keeps
    /// (`CFormattingArgs::ExtractAlgorithmOptions`, blast_args.cpp). Returns the number of
    /// alignments in the report if the options cannot express it.
    fn limit_subjects(&self, given: &mut GivenOptions) -> Option<usize> {
        let kept = StoredOptions(&self.request.options).integer("HitlistSize")?;
        let kept = usize::try_from(kept).ok().filter(|&kept| kept != DESCRIPTIONS)?;
        let values = Values::new(&self.program, self.given);
        let release = values.release();
        let format = values.get(&outfmt::OUTFMT);
        let is_text = FormatChoice::parse(&format, release).is_ok_and(|choice| choice.is_text());
        let number = |number: usize| Value::Integer(number as i64);
        let has_counts = self.has("num_alignments") || is_text && self.has("num_descriptions");
        if is_text && kept > DESCRIPTIONS && !has_counts {
            for ignored in ["max_target_seqs", "line_length", "sorthits", "sorthsps"] {
                given.remove(ignored);
            }
            given.insert("num_descriptions", number(kept));
            given.insert("num_alignments", number(kept / 2));
            return None;
        }
        if has_counts || self.has("max_target_seqs") {
            return None;
        }
        given.insert("max_target_seqs", number(kept));
        (is_text && kept > ALIGNMENTS).then_some(ALIGNMENTS)
    }
}

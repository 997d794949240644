//! `blast_formatter`: makes reports of archives (`blast_formatter.cpp`).

mod common_search;
mod words;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use fleetblast_job::error::{Error, exit};
use fleetblast_job::plan::{Destination, Format, Plan};
use fleetblast_job::{
    ArchiveReport, ArchivedSearch, SubjectDatabase, empty_subject_message, standard,
};
use fleetblast_report::archive_reader::{
    self, StoredArchive, StoredContent, StoredObject, StoredRequest, StoredSubjects,
};
use fleetblast_report::{RepeatedSettings, repeat_archive};
use fleetblast_seq::asn::{AsnError, AsnReader};
use fleetblast_seq::id::{SeqId, choose_best_id};

use self::common_search::CommonSearch;
use crate::messages::{complain, say};
use crate::options::blast_formatter::{ARCHIVE, BLAST_FORMATTER, FormatterOptions};
use crate::options::compat;
use crate::options::parse::{self, GivenOptions, Request};
use crate::options::usage::ProgramName;
use crate::plan::{self, ProcessEnvironment};
use crate::search_programs::SearchEntry;
use crate::stored_search::asn_reader;
use crate::terminal::{Progress, ProgressMode};

/// BLAST+'s message for a file that is no archive.
const INVALID: &str = "Invalid input format for BLAST Archive.";

/// Name of the program in messages: BLAST+'s `blast_formatter` does not name itself.
const NO_PROGRAM: &str = "";

/// Runs `blast_formatter`.
///
/// # Errors
/// A file that is no archive, an archive of a search that is not supported, a database that cannot
/// be read or is not the searched one, a report that cannot be written.
pub fn run(given: &GivenOptions) -> Result<(), Error> {
    let options = FormatterOptions::new(given);
    if let Some(error) = &options.unsupported {
        return Err(error.clone());
    }
    let Some(path) = &options.archive else {
        let message = "Command line argument error: Argument \"rid\". The argument has no value";
        return Err(Error::new(exit::INPUT, message));
    };
    let file = open(path)?;
    let environment = ProcessEnvironment {
        // The statistics of archives are without the correction for finite sizes.
        variable: &|name| match name {
            "OLD_FSC" => Some("true".into()),
            _ => std::env::var_os(name),
        },
        sorts_all_reports: true,
        ..ProcessEnvironment::current()
    };
    let mut archives = Archives::new(file, path, words::is_archive(&options))?;
    let mut report: Option<ArchiveReport> = None;
    let mut first_request = None;
    // The search of the last archive, and its subjects.
    let mut opened: Option<(CommonSearch, SubjectDatabase)> = None;
    let mut next = archives.next_archive()?;
    if next.is_none() {
        return Err(archives.invalid("it is empty"));
    }
    while let Some(object) = next {
        let StoredContent::Archive(archive) = object.content else {
            next = archives.next_archive()?;
            continue;
        };
        let plan = plan(&archive, &options, &environment)?;
        warn_of_empty_subjects(&archive);
        let audience = Progress::new(NO_PROGRAM, ProgressMode::No, plan.out == Destination::Stdout);
        let is_of_last = |(search, subjects): &(CommonSearch, SubjectDatabase)| {
            // Warnings of opening subjects are repeated for each archive, as by BLAST+.
            search.difference(&archive.request).is_none() && subjects.opening_warnings.is_empty()
        };
        let (search, subjects) = &*match opened.take().filter(is_of_last) {
            Some(last) => opened.insert(last),
            None => opened.insert(open_subjects(&archive, &plan, &audience)?),
        };
        let output = match &mut report {
            Some(output) => output,
            None => report.insert(ArchiveReport::open(&plan)?),
        };
        if archives.keeps_values {
            let first = first_request.get_or_insert_with(|| archive.request.clone());
            output.write_piece(&convert_archive(first, &archive, &options)?)?;
        } else {
            let joined = ArchiveReport::is_joined(&plan);
            let rest = std::iter::from_fn(|| if joined { archives.rest(search) } else { None });
            let search = ArchivedSearch { plan: &plan, subjects };
            output.write(&search, std::iter::once(Ok(*archive)).chain(rest), &audience)?;
        }
        next = archives.next_archive()?;
    }
    report.map_or(Ok(()), ArchiveReport::finish)
}

/// Opens the subjects of an archive. Returns the search that the archive stores, and the subjects.
fn open_subjects(
    archive: &StoredArchive,
    plan: &Plan,
    audience: &Progress,
) -> Result<(CommonSearch, SubjectDatabase), Error> {
    let mut subjects = match &archive.request.subjects {
        StoredSubjects::Sequences(stored) => SubjectDatabase::from_archive(plan, stored, audience)?,
        _ => SubjectDatabase::open(plan, audience)?,
    };
    // BLAST+ names the masks of subjects in reports of archives, but does not show them.
    subjects.hide_masks();
    Ok((CommonSearch::new(&archive.request), subjects))
}

/// Opens a file of archives; `-` is standard input.
fn open(path: &OsStr) -> Result<Box<dyn Read>, Error> {
    if path == "-" {
        let input = standard::input().map_err(|error| invalid(path, &error.to_string()))?;
        return Ok(Box::new(input));
    }
    let file = File::open(path).map_err(|error| {
        let mut failure = Error::inaccessible(ARCHIVE.name(), &path.to_string_lossy());
        failure.message.push_str(&format!("\n({error})"));
        failure
    })?;
    Ok(Box::new(file))
}

/// Converts a stored archive to a new one, as `-outfmt 11` does. `first` is the request of the
/// file's first archive.
fn convert_archive(
    first: &StoredRequest,
    archive: &StoredArchive,
    options: &FormatterOptions,
) -> Result<Vec<u8>, Error> {
    let kept = words::kept_subjects(first, &options.formatting);
    let settings = RepeatedSettings { first, kept, release: options.release };
    repeat_archive(settings, archive).map_err(|what| {
        Error::unsupported(BLAST_FORMATTER.name, format_args!("{what} with -outfmt 11"))
    })
}

/// The archives of a file.
struct Archives<'a> {
    reader: AsnReader<'static>,
    path: &'a OsString,
    /// Whether to keep all values of each archive, because the report is an archive with the same
    /// values.
    keeps_values: bool,
}

impl<'a> Archives<'a> {
    fn new(
        file: Box<dyn Read>,
        path: &'a OsString,
        keeps_values: bool,
    ) -> Result<Archives<'a>, Error> {
        let mut input = BufReader::new(file);
        let first = match input.fill_buf() {
            Ok(bytes) => bytes.first().copied(),
            Err(error) => return Err(invalid(path, &error.to_string())),
        };
        Ok(Archives { reader: asn_reader(input, first), path, keeps_values })
    }

    /// Reads the next archive, and prints the messages of its search. Refuses a search of an
    /// unknown program.
    fn next_archive(&mut self) -> Result<Option<StoredObject>, Error> {
        let object = archive_reader::read_next(&mut self.reader, self.keeps_values);
        let object = object.map_err(|error| match error {
            AsnError::Io(error) => self.invalid(&error.to_string()),
            AsnError::Malformed(malformed) => {
                self.invalid(&format!("{}: {malformed}", self.reader.place()))
            }
        })?;
        object.iter().flat_map(|object| &object.messages).for_each(|message| say(message));
        match object {
            Some(StoredObject { content: StoredContent::UnknownSearch(unknown), .. }) => {
                Err(unsupported_search_error(&unknown.program, &unknown.service))
            }
            object => Ok(object),
        }
    }

    /// Reads the next archive for a report that joins all archives of one search. Skips archives
    /// that have only messages. Returns an error for an archive of another search, and `None` at
    /// the end.
    fn rest(&mut self, search: &CommonSearch) -> Option<Result<StoredArchive, Error>> {
        loop {
            match self.next_archive() {
                Ok(Some(StoredObject { content: StoredContent::Archive(archive), .. })) => {
                    if let Some(difference) = search.difference(&archive.request) {
                        return Some(Err(different_search(&difference)));
                    }
                    warn_of_empty_subjects(&archive);
                    return Some(Ok(*archive));
                }
                Ok(Some(_)) => {}
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }

    fn invalid(&self, why: &str) -> Error {
        invalid(self.path, why)
    }
}

/// Prints BLAST+'s warnings about stored subjects without letters.
fn warn_of_empty_subjects(archive: &StoredArchive) {
    let StoredSubjects::Sequences(subjects) = &archive.request.subjects else { return };
    for subject in subjects.iter().filter(|subject| subject.letters.is_empty()) {
        let id = choose_best_id(&subject.ids).map_or_else(Vec::new, SeqId::accession);
        say(&[b"Warning: ", &empty_subject_message(&id, &subject.title)[..]].concat());
    }
}

/// Returns the error for the archive of a search that is not supported.
fn unsupported_search_error(stored_name: &str, service: &str) -> Error {
    let what = format_args!("archives of {stored_name} ({service})");
    Error::unsupported(BLAST_FORMATTER.name, what)
}

/// Returns the error for an archive of another search in a report that joins all archives.
/// `difference` names the property of the search that differs.
fn different_search(difference: &str) -> Error {
    let message = format!(
        "The archives are of different searches, which formats 5 and 13 to 16 do not join: the \
         {difference} is not that of the first archive. Format them one by one."
    );
    Error::new(exit::INPUT, message)
}

fn invalid(path: &OsStr, why: &str) -> Error {
    let mut error = Error::query_options(INVALID);
    error.message.push_str(&format!("\n({}: {why})", path.to_string_lossy()));
    error
}

/// Plans the stored search with the report options of this run. Prints BLAST+'s warnings about the
/// options; as in BLAST+, they are repeated for each archive.
fn plan(
    archive: &StoredArchive,
    options: &FormatterOptions,
    environment: &ProcessEnvironment<'_>,
) -> Result<Plan, Error> {
    let StoredRequest { program, service, .. } = &archive.request;
    let entry = SearchEntry::new(*program);
    let table = entry.table.in_release(Some(options.release));
    words::refuse_big_integers(archive)?;
    let words = words::search_words(archive, options, &table)?;
    let given = match parse::parse(&table, ProgramName::Blast, &words)? {
        Request::Run(mut given) => {
            compat::insert_release(options.release, &mut given);
            given
        }
        Request::Print(_) | Request::PrintVersion(_) => {
            return Err(unsupported_search_error(program.properties().stored_name, service));
        }
    };
    let mut warnings = Vec::new();
    let search = (entry.read)(&given);
    let plan = plan::plan(&*search, environment, &mut warnings);
    let prefix = format!("[{}] ", program.name());
    if words::warns_of_few(archive, options) {
        complain("Warning: Examining 5 or more matches is recommended");
    }
    warnings.iter().for_each(|warning| complain(&warning.replacen(&prefix, "", 1)));
    if words::is_sam(options) && !search.spec().properties().has_sam {
        return Err(Error::query_options("SAM format is only applicable to blastn results"));
    }
    let mut plan = plan?;
    plan.check_late_error()?;
    // BLAST+ fetches the sequences of archives anew.
    plan.report.lacks_sequences = false;
    if plan.identity_resets_composition {
        plan.params.set_composition(words::stored_composition(archive));
    }
    // BLAST+ accepts 0 for the report of an archive, but not for a search.
    if options.formatting.num_alignments == Some(0) {
        plan.report.num_alignments = 0;
        if plan.report.format.is_document() && plan.report.format != Format::Xml {
            let what = "-num_alignments 0 in formats 8, 9 and 12 to 16";
            return Err(Error::unsupported(BLAST_FORMATTER.name, what));
        }
    }
    Ok(plan)
}

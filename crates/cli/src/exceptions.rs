//! The exceptions that BLAST+ prints for errors of databases and files.

use fleetblast_db::{DbError, LmdbMismatch};
use fleetblast_job::error::{Error, exit};
use fleetblast_seq::convert::{ValueParseError, exception, exception_at};
use fleetblast_stats::release::Release;

use crate::logfile;
use crate::options::compat::database_error_text;

/// The class of exceptions about databases.
const DATABASE_CLASS: &str = "CSeqDBException";

/// The source file that resolves aliases.
const ALIAS: &str = "objtools/blast/seqdb_reader/seqdbalias.cpp";
/// The source file that joins LMDB files.
const LMDB_SET: &str = "objtools/blast/seqdb_reader/seqdblmdbset.cpp";

const MISSING_LIST: Exception = Exception {
    place: Place { file: "corelib/ncbifile.cpp", lines: [5694, 5754, 5754] },
    class: "CFileException",
    code: "eMemoryMap",
    function: "CMemoryFileMap::CMemoryFileMap",
};

const NO_FILE: Exception = Exception {
    place: Place { file: "corelib/ncbiargs.cpp", lines: [609, 618, 618] },
    class: "CArgException",
    code: "eNoFile",
    function: "",
};

/// Converts the error that ends `segmasker` or `convert2blastmask` to the exception that BLAST+
/// prints. Like BLAST+, redirects messages from the file of `-logfile` to standard error again.
pub(crate) fn convert_last_error(release: &Release, error: Error) -> Error {
    logfile::restore();
    match error.message.strip_prefix("Command line argument error: ") {
        Some(what) => Error { message: NO_FILE.format(release, what), ..error },
        None => error,
    }
}

/// A place in NCBI's source that throws an exception.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Path of the file in `src`, which the messages of later releases contain.
    pub(crate) file: &'static str,
    /// Lines of 2.12.0, 2.16.0 and 2.17.0.
    pub(crate) lines: [u32; 3],
}

/// Creates the exception that `function` throws at these lines of BLAST+'s source if it cannot
/// convert a text to a value.
pub(crate) const fn conversion_exception(lines: [u32; 3], function: &'static str) -> Exception {
    let place = Place { file: "corelib/ncbistr.cpp", lines };
    Exception { place, class: "CStringException", code: "eConvert", function }
}

/// Converts the error for a range or an environment variable that is no number. BLAST+ does not
/// expect it, and reports an unhandled exception.
pub(crate) fn conversion_error(error: &ValueParseError, release: &Release) -> Error {
    let (lines, function) = error.throwing_place();
    let exception = conversion_exception(lines, function).format(release, &error.to_string());
    Error::new(exit::UNKNOWN, format!("Error: {exception}"))
}

/// An exception of NCBI's toolkit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exception {
    /// Place that throws it.
    pub(crate) place: Place,
    /// Class without its namespaces.
    pub(crate) class: &'static str,
    /// Kind of error.
    pub(crate) code: &'static str,
    /// Function that throws it, with its class; empty if the message does not name it.
    pub(crate) function: &'static str,
}

impl Exception {
    /// Creates an exception about a database.
    pub(crate) const fn of_database(
        place: Place,
        code: &'static str,
        function: &'static str,
    ) -> Self {
        Self { place, class: DATABASE_CLASS, code, function }
    }

    /// Returns the exception that BLAST+ throws for an error of a database, in the words of the
    /// release, with its text. Returns `None` if BLAST+ has no such exception.
    pub(crate) fn for_database_error(release: &Release, error: &DbError) -> Option<(Self, String)> {
        if let DbError::MissingList { path, .. } = error {
            let what = format!("To be memory mapped the file must exist: '{}'", path.display());
            return Some((MISSING_LIST, what));
        }
        let (file, lines, code, function) = match error {
            DbError::NotFound { .. } => {
                (ALIAS, [317, 318, 320], "eFileErr", "CSeqDBAliasNode::x_ResolveNames")
            }
            DbError::MultipleAliasLists { what, .. } => {
                let lines = match *what {
                    "GI" => [1936, 2023, 2025],
                    "SEQID" => [1972, 2059, 2061],
                    _ => [1993, 2080, 2082],
                };
                (ALIAS, lines, "eFileErr", "CSeqDBAliasNode::ComputeMasks")
            }
            DbError::MissingFile { .. } => (
                "objtools/blast/seqdb_reader/seqdbfile.cpp",
                [128; 3],
                "eFileErr",
                "CSeqDBExtFile::CSeqDBExtFile",
            ),
            DbError::MissingLmdbWithAdvice { .. } => (
                "objtools/blast/seqdb_reader/seqdb_lmdb.cpp",
                [88; 3],
                "eFileErr",
                "CBlastLMDBManager::CBlastEnv::CBlastEnv",
            ),
            DbError::LmdbVolumeMismatch { mismatch, .. } => {
                let lines = match mismatch {
                    LmdbMismatch::FewerVolumes => [48, 49, 49],
                    _ => [67, 68, 68],
                };
                (LMDB_SET, lines, "eArgErr", "CSeqDBLMDBEntry::CSeqDBLMDBEntry")
            }
            DbError::NameRequired => {
                ("objtools/blast/seqdb_reader/seqdb.cpp", [162; 3], "eArgErr", "CSeqDB::CSeqDB")
            }
            _ => return None,
        };
        let exception = Self::of_database(Place { file, lines }, code, function);
        Some((exception, database_error_text(release, error)))
    }

    /// Formats the class with the kind of error, as in `CSeqDBException::eArgErr`.
    pub(crate) fn name(&self, release: &Release) -> String {
        let is_named = release.names_database_errors || self.class != DATABASE_CLASS;
        format!("{}::{}", self.class, if is_named { self.code } else { "eInvalid" })
    }

    /// Formats the exception with a description of the error.
    pub(crate) fn format(&self, release: &Release, what: &str) -> String {
        let name = self.name(release);
        // Later releases also name the module of databases.
        let scope = match (self.class, release.names_throwing_files) {
            (DATABASE_CLASS, true) => "BLASTDB::ncbi::",
            _ => "ncbi::",
        };
        let function = match self.function {
            "" => String::new(),
            function => format!("{scope}{function}() - "),
        };
        let (line, what) = (release.choose(self.place.lines), format!("({name}) {function}{what}"));
        match release.names_throwing_files {
            true => exception_at(&format!("./c++/src/{}", self.place.file), line, &what),
            false => exception(line, &what),
        }
    }
}

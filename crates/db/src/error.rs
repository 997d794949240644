//! Errors of databases, with the oracle's message where it has one.

mod identifier;
mod message;
mod mismatch;
mod sign;

use std::ops::Range;
use std::path::{Path, PathBuf};

use fleetblast_seq::convert::{exception, exception_at};

pub use self::identifier::IdentifierError;
pub use self::mismatch::LmdbMismatch;
pub use self::sign::TaxidSign;
use crate::SequenceKind;

/// Returns the exception for a list that does not exist, in the words of 2.12.0 or of later
/// releases.
fn missing_list(later_words: bool, path: &Path) -> String {
    let what = format!(
        "(CFileException::eMemoryMap) ncbi::CMemoryFileMap::CMemoryFileMap() - To be memory mapped \
         the file must exist: '{}'",
        path.display()
    );
    match later_words {
        true => exception_at("./c++/src/corelib/ncbifile.cpp", 5754, &what),
        false => exception(5694, &what),
    }
}

/// An error in a BLAST database.
///
/// `Display` gives the text that follows `BLAST Database error: ` on standard error. Where NCBI
/// BLAST+ reports the error, the text is that of BLAST+. Where BLAST+ crashes, the text names the
/// file and the byte offset. [`DbError::stderr_line`] gives the complete line,
/// [`DbError::exit_code`] the exit status.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DbError {
    /// The value of `-db` is empty.
    #[error("Database name is required.")]
    NameRequired,
    /// The value of `-db` consists of blanks and quotes only.
    #[error("No database names were passed to CSeqDB::CSeqDB().")]
    NoNames,
    /// No alias or index file with this name exists on the search path.
    #[error(
        "No alias or index file found for {kind} database [{name}] in search path [{searched}]"
    )]
    NotFound {
        /// `protein` or `nucleotide`.
        kind: &'static str,
        /// The database name as given.
        name: String,
        /// The search path as NCBI prints it.
        searched: String,
    },
    /// An alias file has no DBLIST.
    #[error("No database names were found in alias file [{alias}].")]
    EmptyAlias {
        /// Path of the alias without its extension.
        alias: String,
    },
    /// A member of an alias is neither a volume nor an alias.
    #[error("Could not find volume or alias file ({member}) referenced in alias file ({alias}).")]
    MissingMember {
        /// The name of the member in the DBLIST.
        member: String,
        /// Path of the alias without its extension.
        alias: String,
    },
    /// An alias contains itself.
    #[error("Illegal configuration: DB alias files are mutually recursive.")]
    AliasCycle {
        /// The alias file that includes itself, directly or through other aliases.
        path: PathBuf,
    },
    /// Aliases are nested too deeply, or there are too many of them.
    #[error(
        "alias file ({}) belongs to a tree of more than {limit} alias files; \
         list the volumes in one DBLIST instead",
        path.display()
    )]
    AliasTooLarge {
        /// The alias file that exceeds the limit.
        path: PathBuf,
        /// Maximal number of alias files in the tree, or of aliases within each other.
        limit: usize,
    },
    /// An alias has a key that is not supported.
    #[error(
        "alias file ({}) line {line} uses {key}, which is not supported; \
         search the database without this alias, or make a database of the wanted sequences",
        path.display()
    )]
    UnsupportedAliasKey {
        /// Path of the alias file.
        path: PathBuf,
        /// Line number in the alias file, from 1.
        line: usize,
        /// The key, e.g. `TILIST`.
        key: String,
    },
    /// A number in an alias file is malformed or out of range.
    #[error(
        "alias file ({}) line {line}: {key} needs a whole number from 0 to {maximum}, not '{value}'",
        path.display()
    )]
    InvalidAliasNumber {
        /// Path of the alias file.
        path: PathBuf,
        /// Line number in the alias file, from 1.
        line: usize,
        /// The key, e.g. `NSEQ`.
        key: &'static str,
        /// The invalid text.
        value: String,
        /// The largest allowed number.
        maximum: u64,
    },
    /// A file of a volume does not exist.
    #[error("Error: File ({}) not found.", path.display())]
    MissingFile {
        /// Path of the missing file.
        path: PathBuf,
    },
    /// The LMDB file of a version-5 volume does not exist.
    #[error("mdb_env_open: No such file or directory")]
    MissingLmdb {
        /// The missing LMDB file.
        path: PathBuf,
    },
    /// The LMDB file with the taxids of a version-5 database does not exist.
    #[error(
        "Taxonomy Id to Oids lookup error in {}",
        path.file_name().unwrap_or_default().to_string_lossy()
    )]
    MissingTaxidLmdb {
        /// The missing LMDB file.
        path: PathBuf,
    },
    /// An LMDB file does not exist. The message is that of later releases of BLAST+.
    #[error(
        "File {} not found. If you renamed any BLAST database files, please use original file \
         names, and makeblastdb to rename the database. If you deleted any BLAST database files, \
         you need to recreate the database.",
        path.display()
    )]
    MissingLmdbWithAdvice {
        /// The missing LMDB file.
        path: PathBuf,
    },
    /// A list of an alias, which BLAST+ reads when it opens the volumes, does not exist. The
    /// message is that of later releases of BLAST+.
    #[error(
        "Database memory map file error - To be memory mapped the file must exist: '{}'",
        path.display()
    )]
    UnmappedList {
        /// Path of the list.
        path: PathBuf,
    },
    /// The index does not start with version 4 or 5 (byte offset 0).
    #[error("Error: Not a valid version 4 or 5 database.")]
    UnsupportedVersion {
        /// Path of the index file.
        path: PathBuf,
        /// The number in the place of the version.
        found: u32,
    },
    /// The sequence type in the index (byte offset 4) is unknown or not the requested one.
    #[error("Error: requested sequence type does not match DB.")]
    WrongSequenceKind {
        /// Path of the index file.
        path: PathBuf,
        /// The requested type; `None` if the index states no known type.
        wanted: Option<SequenceKind>,
    },
    /// One database has volumes of versions 4 and 5.
    #[error("DB list contains both Version 4 and Version 5 dbs")]
    MixedVersions,
    /// A file is shorter than its contents require.
    #[error(
        "file ({}) is cut short: {what} at byte {offset} needs {needed} bytes, the file has \
         {length}; copy or make the database again",
        path.display()
    )]
    FileTruncated {
        /// Path of the short file.
        path: PathBuf,
        /// Description of the item that the file should contain.
        what: &'static str,
        /// Byte offset of the item in the file.
        offset: u64,
        /// Minimal length of the file in bytes.
        needed: u64,
        /// Length of the file in bytes.
        length: u64,
    },
    /// An offset in the index contradicts its neighbour or the file it points into.
    #[error(
        "index file ({}) byte {offset}: the {what} offset of sequence {oid} is out of order or \
         outside its file; copy or make the database again",
        path.display()
    )]
    InvalidOffset {
        /// Path of the index file.
        path: PathBuf,
        /// Byte offset in the index file of the wrong entry.
        offset: u64,
        /// `sequence`, `header` or `ambiguity`.
        what: &'static str,
        /// OID in the whole database.
        oid: u32,
    },
    /// An index states another number of residues than its offsets span.
    #[error(
        "index file ({}) states {stated} residues, but its sequence offsets span {found}; \
         copy or make the database again",
        path.display()
    )]
    ResidueCountMismatch {
        /// Path of the index file.
        path: PathBuf,
        /// The number that the index states.
        stated: u64,
        /// The number that the offsets span.
        found: u64,
    },
    /// A file was written to after it was opened.
    #[error(
        "file ({}) was changed while it was searched ({what}), so that what was found is of two databases; search again, \
         and replace databases instead of writing to their files",
        path.display()
    )]
    FileChanged {
        /// Path of the changed file.
        path: PathBuf,
        /// Description of the change.
        what: String,
    },
    /// After all files of the database were opened, the path of one of them names another file or
    /// none. Another process may be replacing the database, so the open files may belong to two
    /// databases.
    #[error(
        "file ({}) was replaced while the database was opened, so that files of two databases may be open; search again",
        path.display()
    )]
    FileReplacedWhileOpened {
        /// Path of the replaced file.
        path: PathBuf,
    },
    /// A file must be opened again, but its path now names another file.
    #[error(
        "file ({}) was replaced after it was opened, and another part of it was to be read; search again",
        path.display()
    )]
    FileReplaced {
        /// Path of the replaced file.
        path: PathBuf,
    },
    /// A mapped file could not be read, although no change of it is visible.
    #[error(
        "file ({}) byte {offset} of {length} could not be read: its disk or its server failed, or it was cut short \
         and then replaced; search again",
        path.display()
    )]
    FileUnreadable {
        /// Path of the unreadable file.
        path: PathBuf,
        /// Byte offset of the first missing page.
        offset: u64,
        /// Length of the file in bytes when it was opened.
        length: u64,
    },
    /// The sequence file has an invalid residue, or lacks a sentinel.
    #[error(
        "sequence file ({}) byte {offset}: {code} is not {expected} (sequence {oid}); \
         copy or make the database again",
        path.display()
    )]
    InvalidResidue {
        /// Path of the sequence file.
        path: PathBuf,
        /// Offset of the byte in the file.
        offset: u64,
        /// OID in the whole database.
        oid: u32,
        /// The invalid byte.
        code: u8,
        /// Description of the expected byte.
        expected: &'static str,
    },
    /// A header is not the binary ASN.1 of a Blast-def-line-set.
    #[error(
        "header file ({}) byte {offset}: {problem} in the definition lines of sequence {oid}; \
         copy or make the database again",
        path.display()
    )]
    InvalidHeader {
        /// Path of the header file.
        path: PathBuf,
        /// Offset of the problem in the file, in bytes.
        offset: u64,
        /// OID in the whole database.
        oid: u32,
        /// Description of the error.
        problem: &'static str,
    },
    /// The database does not contain the OID.
    #[error("sequence {oid} does not exist, the database has {count} sequences")]
    NoSuchOid {
        /// The requested OID.
        oid: u32,
        /// Number of OIDs in the database.
        count: u32,
    },
    /// The database has more sequences or residues than BLAST+ can number.
    #[error("the database has too many {what} ({found}, the largest number allowed is {maximum})")]
    TooLarge {
        /// Name of the items that are too many: `sequences` or `residues`.
        what: &'static str,
        /// The number that is too large.
        found: u64,
        /// The largest allowed number.
        maximum: u64,
    },
    /// A file of the lookup tables is damaged.
    #[error(
        "look-up file ({}) byte {offset}: {problem}; copy or make the database again",
        path.display()
    )]
    DamagedLookupFile {
        /// Path of the damaged file.
        path: PathBuf,
        /// Offset of the problem in the file, in bytes.
        offset: u64,
        /// Description of the error.
        problem: &'static str,
    },
    /// An LMDB file belongs to other volumes.
    #[error("{mismatch}")]
    LmdbVolumeMismatch {
        /// Path of the LMDB file.
        path: PathBuf,
        /// The property that differs.
        mismatch: LmdbMismatch,
    },
    /// A volume has masks of several algorithms with the same description.
    #[error(
        "Error: volume ({}) mask data has duplicates value ({})",
        volume.display(),
        String::from_utf8_lossy(description)
    )]
    DuplicateMaskAlgorithm {
        /// The volume.
        volume: PathBuf,
        /// The description that occurs twice.
        description: Vec<u8>,
    },
    /// An identifier was looked up in a version-5 database without identifiers.
    #[error("DB contains no accession info.")]
    MissingAccessionTable,
    /// An empty key, which LMDB refuses, was looked up in a version-5 database.
    #[error(
        "Accessions to Oids lookup error in {}",
        path.file_name().unwrap_or_default().display()
    )]
    EmptyKey {
        /// Path of the LMDB file, or of the database if the message is that of later releases.
        path: PathBuf,
    },
    /// A version-5 database has no table of taxids.
    #[error("DB contains no tax id info")]
    MissingTaxidTable,
    /// Taxids were looked up in a version-4 database.
    #[error("Taxonomy list is not supported in v4 BLAST db")]
    TaxidLookupNeedsVersion5,
    /// A file contradicts another file, or itself.
    #[error("file ({}){place}: {problem}; copy or make the database again", path.display())]
    Inconsistent {
        /// Path of the file.
        path: PathBuf,
        /// A blank and the position in the file, such as a byte and a sequence; empty if unknown.
        place: String,
        /// Description of the error.
        problem: String,
    },
    /// Files were requested from a database that is only in memory.
    #[error("the sequences are in memory only, there are no files to read")]
    InMemoryDatabase,
    /// A database to be mapped is larger than the allowed memory.
    #[error(
        "-loader map cannot keep within -memory: {size} bytes of the database are needed, {limit} \
         are allowed; use -loader direct, read or auto"
    )]
    MapTooLarge {
        /// Size of the database in bytes.
        size: u64,
        /// Allowed memory in bytes.
        limit: u64,
    },
    /// A single process cannot load a database by broadcast.
    #[error(
        "-loader broadcast is for processes that MPI connects: start them with mpirun or srun, or use \
         -loader map, read or auto"
    )]
    BroadcastWithoutMpi,
    /// The requested sequences are not in memory.
    #[error(
        "the bytes of sequences {} to {} are not among those in memory, of sequences {} to {}",
        wanted.start, wanted.end, held.start, held.end
    )]
    NotLoaded {
        /// The requested OIDs.
        wanted: Range<u32>,
        /// The OIDs in memory.
        held: Range<u32>,
    },
    /// The system has no memory for a part of the database.
    #[error(
        "cannot get {size} bytes of memory for a part of the database: {source}; \
         allow less with -memory"
    )]
    OutOfMemory {
        /// Number of requested bytes.
        size: u64,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A volume has no ISAM index for a list of GIs or identifiers.
    #[error("{what} list specified but no ISAM file found for {what} in {}", path.display())]
    MissingIsamIndex {
        /// The missing index: `GI` or `SI` (identifiers).
        what: &'static str,
        /// Path of the volume without extension.
        path: PathBuf,
    },
    /// None of the taxids is in the database.
    #[error(
        "{}Taxonomy ID(s) not found. This could be because the ID(s) provided are not at or below the species level. \
         Please use get_species_taxids.sh to get taxids for nodes higher than species \
         (see https://www.ncbi.nlm.nih.gov/books/NBK546209/).",
        match sign { TaxidSign::Positive => "", TaxidSign::Negative => "Taxonomy ID(s) not found." }
    )]
    NoSuchTaxids {
        /// Whether the list includes or excludes the taxids.
        sign: TaxidSign,
        /// Names of the databases, without directories.
        databases: Vec<String>,
    },
    /// None of the taxids is in the database. The message is that of later releases of BLAST+.
    #[error(
        "Taxonomy ID(s) not found in the {} database{}.",
        databases.join(" "),
        if databases.len() > 1 { "s" } else { "" }
    )]
    NoSuchTaxidsInDatabases {
        /// Names of the databases, without directories.
        databases: Vec<String>,
    },
    /// The file with the parents of taxa cannot be used.
    #[error("taxonomy file ({}): {problem}; get it again: update_blastdb.pl --decompress taxdb", path.display())]
    UnusableTaxonomy {
        /// Path of the file.
        path: PathBuf,
        /// Description of the error.
        problem: String,
    },
    /// The search is restricted to taxids in a version-4 database.
    #[error("Taxonomy filtering is not supported in v4 BLAST dbs")]
    TaxidListNeedsVersion5,
    /// A list of identifiers for a version-4 database is binary.
    #[error("Seqidlist is not in BLAST db v4 format")]
    BinarySeqIdListNeedsVersion5,
    /// An alias names several lists where one is allowed.
    #[error(
        "Alias file ({}) has multiple {what} lists ({names}).",
        path.parent().unwrap_or(Path::new("")).display()
    )]
    MultipleAliasLists {
        /// Path of the alias file.
        path: PathBuf,
        /// Line number in the alias file, from 1.
        line: usize,
        /// Name of the kind of list in the message: `GI`, `SEQID` or `Tax ids`.
        what: &'static str,
        /// Names of the lists, as the alias gives them.
        names: String,
    },
    /// Aliases of one volume have different membership bits.
    #[error("MEMB_BIT error: conflicting bit found.")]
    ConflictingMemberBits,
    /// A list does not exist. BLAST+ ends with an uncaught exception.
    #[error("{}", missing_list(*later_words, path))]
    MissingList {
        /// Path of the list, as given.
        path: PathBuf,
        /// Whether the message is that of later releases, which names another line of BLAST+'s
        /// source.
        later_words: bool,
    },
    /// The list of the OIDs of an alias does not exist. BLAST+ ends with an uncaught exception.
    #[error("{}", missing_list(false, path))]
    MissingOidList {
        /// Path of the list.
        path: PathBuf,
    },
    /// A list of an alias, which BLAST+ reads when it opens the volumes, does not exist. These are
    /// lists of OIDs, lists of GIs and, in version 4, lists of identifiers.
    #[error("Cannot memory map {}.", path.display())]
    MissingVolumeList {
        /// Path of the missing list.
        path: PathBuf,
    },
    /// A list cannot be read.
    #[error("{problem}")]
    InvalidList {
        /// Path of the list.
        path: PathBuf,
        /// Description of the error.
        problem: crate::restrict::ListError,
    },
    /// A word is not a valid identifier.
    #[error(transparent)]
    InvalidIdentifier(Box<IdentifierError>),
    /// The operating system reported an error.
    #[error("cannot read ({}): {source}", path.display())]
    Io {
        /// Path of the file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

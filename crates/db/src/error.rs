//! Errors of databases, with the oracle's messages if it has any.

mod identifier;
mod message;
mod sign;

use std::ops::Range;
use std::path::{Path, PathBuf};

pub use self::identifier::IdentifierError;
pub use self::sign::TaxidSign;
use crate::SequenceKind;

/// An error in a BLAST database.
///
/// `Display` gives the text that follows `BLAST Database error: ` on standard error. Where NCBI
/// BLAST+ reports the situation, the text is its own; where it crashes, the text names the file and
/// the byte offset. [`DbError::stderr_line`] gives the complete line, [`DbError::exit_code`] the
/// status.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DbError {
    /// `-db ""`.
    #[error("Database name is required.")]
    NameRequired,
    /// `-db` holds blanks or quotes only.
    #[error("No database names were passed to CSeqDB::CSeqDB().")]
    NoNames,
    /// No alias or index file of this name anywhere on the search path.
    #[error(
        "No alias or index file found for {kind} database [{name}] in search path [{searched}]"
    )]
    NotFound {
        /// `protein`.
        kind: &'static str,
        /// The name as given.
        name: String,
        /// The search path as NCBI prints it.
        searched: String,
    },
    /// An alias file without a DBLIST.
    #[error("No database names were found in alias file [{alias}].")]
    EmptyAlias {
        /// Path of the alias without its extension.
        alias: String,
    },
    /// A member of an alias that is neither a volume nor an alias.
    #[error("Could not find volume or alias file ({member}) referenced in alias file ({alias}).")]
    MissingMember {
        /// The name in the DBLIST.
        member: String,
        /// Path of the alias without its extension.
        alias: String,
    },
    /// An alias that contains itself.
    #[error("Illegal configuration: DB alias files are mutually recursive.")]
    AliasCycle {
        /// The alias file that would be entered again.
        path: PathBuf,
    },
    /// Aliases nested too deeply, or too many of them.
    #[error(
        "alias file ({}) belongs to a tree of more than {limit} alias files; \
         list the volumes in one DBLIST instead",
        path.display()
    )]
    AliasTooLarge {
        /// The alias file at which the limit was passed.
        path: PathBuf,
        /// The limit.
        limit: usize,
    },
    /// An alias with a list that is not supported.
    #[error(
        "alias file ({}) line {line} uses {key}, which is not supported; \
         search the database without this alias, or make a database of the wanted sequences",
        path.display()
    )]
    UnsupportedAliasKey {
        /// The alias file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// The key, e.g. `SEQIDLIST`.
        key: String,
    },
    /// A number in an alias file that is malformed or out of range.
    #[error(
        "alias file ({}) line {line}: {key} needs a whole number from 0 to {maximum}, not '{value}'",
        path.display()
    )]
    InvalidAliasNumber {
        /// The alias file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// The key, e.g. `NSEQ`.
        key: &'static str,
        /// The text found.
        value: String,
        /// The largest number allowed.
        maximum: u64,
    },
    /// A file of a volume does not exist.
    #[error("Error: File ({}) not found.", path.display())]
    MissingFile {
        /// The file.
        path: PathBuf,
    },
    /// A version-5 volume without its LMDB file.
    #[error("mdb_env_open: No such file or directory")]
    MissingLmdb {
        /// The file.
        path: PathBuf,
    },
    /// The index does not start with version 4 or 5 (byte offset 0).
    #[error("Error: Not a valid version 4 or 5 database.")]
    UnsupportedVersion {
        /// The index file.
        path: PathBuf,
        /// The version found.
        found: u32,
    },
    /// An index whose sequence type differs from that of its name and place (byte offset 4).
    #[error("Error: requested sequence type does not match DB.")]
    WrongSequenceKind {
        /// The index file.
        path: PathBuf,
        /// The requested type; `None` if the index states no known type.
        wanted: Option<SequenceKind>,
    },
    /// Volumes of both versions in one database.
    #[error("DB list contains both Version 4 and Version 5 dbs")]
    MixedVersions,
    /// A file is shorter than its contents require.
    #[error(
        "file ({}) is cut short: {what} at byte {offset} needs {needed} bytes, the file has \
         {length}; copy or make the database again",
        path.display()
    )]
    FileTruncated {
        /// The file.
        path: PathBuf,
        /// The item that was read.
        what: &'static str,
        /// Offset of the item.
        offset: u64,
        /// Minimal length of the file.
        needed: u64,
        /// Length of the file.
        length: u64,
    },
    /// An offset in the index that contradicts its neighbour or the file it points into.
    #[error(
        "index file ({}) byte {offset}: the {what} offset of sequence {oid} is out of order or \
         outside its file; copy or make the database again",
        path.display()
    )]
    InvalidOffset {
        /// The index file.
        path: PathBuf,
        /// Position in the file of the stored offset, in bytes.
        offset: u64,
        /// `sequence` or `header`.
        what: &'static str,
        /// OID in the whole database.
        oid: u32,
    },
    /// An index that states another number of residues than its offsets span.
    #[error(
        "index file ({}) states {stated} residues, but its sequence offsets span {found}; \
         copy or make the database again",
        path.display()
    )]
    ResidueCountMismatch {
        /// The index file.
        path: PathBuf,
        /// The number stated.
        stated: u64,
        /// The number by the offsets.
        found: u64,
    },
    /// A file that was written to after it was opened.
    #[error(
        "file ({}) was changed while it was searched ({what}), so that what was found is of two databases; search again, \
         and replace databases instead of writing to their files",
        path.display()
    )]
    FileChanged {
        /// The file.
        path: PathBuf,
        /// The difference.
        what: String,
    },
    /// A path that names another file, or none, when all files of the database are open. The open
    /// files may belong to two databases, because another process replaces one by the other.
    #[error(
        "file ({}) was replaced while the database was opened, so that files of two databases may be open; search again",
        path.display()
    )]
    FileReplacedWhileOpened {
        /// The file.
        path: PathBuf,
    },
    /// A file that must be opened again, but whose path now names another file.
    #[error(
        "file ({}) was replaced after it was opened, and another part of it was to be read; search again",
        path.display()
    )]
    FileReplaced {
        /// The file.
        path: PathBuf,
    },
    /// A mapped file that could not be read, although no change of it is visible.
    #[error(
        "file ({}) byte {offset} of {length} could not be read: its disk or its server failed, or it was cut short \
         and then replaced; search again",
        path.display()
    )]
    FileUnreadable {
        /// The file.
        path: PathBuf,
        /// The first byte of the first page that is missing.
        offset: u64,
        /// Bytes of the file when it was opened.
        length: u64,
    },
    /// An invalid residue in the sequence file, or a missing sentinel.
    #[error(
        "sequence file ({}) byte {offset}: {code} is not {expected} (sequence {oid}); \
         copy or make the database again",
        path.display()
    )]
    InvalidResidue {
        /// The sequence file.
        path: PathBuf,
        /// Offset of the byte in the file.
        offset: u64,
        /// OID in the whole database.
        oid: u32,
        /// The byte.
        code: u8,
        /// Description of the expected byte.
        expected: &'static str,
    },
    /// A header that is not the binary ASN.1 of a Blast-def-line-set.
    #[error(
        "header file ({}) byte {offset}: {problem} in the definition lines of sequence {oid}; \
         copy or make the database again",
        path.display()
    )]
    InvalidHeader {
        /// The header file.
        path: PathBuf,
        /// Offset of the problem in the file, in bytes.
        offset: u64,
        /// OID in the whole database.
        oid: u32,
        /// Description of the error.
        problem: &'static str,
    },
    /// An OID that the database does not contain.
    #[error("sequence {oid} does not exist, the database has {count} sequences")]
    NoSuchOid {
        /// The requested OID.
        oid: u32,
        /// Number of OIDs in the database.
        count: u32,
    },
    /// More sequences or residues than BLAST+ can number.
    #[error("the database has too many {what} ({found}, the largest number allowed is {maximum})")]
    TooLarge {
        /// `sequences` or `residues`.
        what: &'static str,
        /// The number found.
        found: u64,
        /// The maximal number.
        maximum: u64,
    },
    /// A file of the look-up tables that is damaged.
    #[error(
        "look-up file ({}) byte {offset}: {problem}; copy or make the database again",
        path.display()
    )]
    DamagedLookupFile {
        /// The file.
        path: PathBuf,
        /// Offset of the problem in the file, in bytes.
        offset: u64,
        /// Description of the error.
        problem: &'static str,
    },
    /// An LMDB file that belongs to other volumes.
    #[error("{problem}")]
    LmdbVolumeMismatch {
        /// The LMDB file.
        path: PathBuf,
        /// Description of the error.
        problem: &'static str,
    },
    /// A lookup of an identifier in a version-5 database without identifiers.
    #[error("DB contains no accession info.")]
    MissingAccessionTable,
    /// A lookup of an empty key in a version-5 database, which LMDB refuses.
    #[error(
        "Accessions to Oids lookup error in {}",
        path.file_name().unwrap_or_default().display()
    )]
    EmptyKey {
        /// The LMDB file.
        path: PathBuf,
    },
    /// A version-5 database without its table of taxids.
    #[error("DB contains no tax id info")]
    MissingTaxidTable,
    /// A lookup of taxids in a version-4 database.
    #[error("Taxonomy list is not supported in v4 BLAST db")]
    TaxidLookupNeedsVersion5,
    /// A file that contradicts another one, or itself.
    #[error("file ({}){place}: {problem}; copy or make the database again", path.display())]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// The position: empty, or a byte and a sequence, after a blank.
        place: String,
        /// Description of the error.
        problem: String,
    },
    /// Files of a database in memory are requested.
    #[error("the sequences are in memory only, there are no files to read")]
    InMemoryDatabase,
    /// A database to be mapped that is larger than the allowed memory.
    #[error(
        "-loader map cannot keep within -memory: {size} bytes of the database are needed, {limit} \
         are allowed; use -loader direct, read or auto"
    )]
    MapTooLarge {
        /// Bytes of the database.
        size: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// A single process cannot load a database by broadcast.
    #[error(
        "-loader broadcast is for processes that MPI connects: start them with mpirun or srun, or use \
         -loader map, read or auto"
    )]
    BroadcastWithoutMpi,
    /// The requested bytes are not in memory.
    #[error(
        "the bytes of sequences {} to {} are not among those in memory, of sequences {} to {}",
        wanted.start, wanted.end, held.start, held.end
    )]
    NotLoaded {
        /// The requested OIDs.
        wanted: Range<u32>,
        /// OIDs in memory.
        held: Range<u32>,
    },
    /// No memory to load a part of the database.
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
    /// A list of GIs or identifiers for a volume without such an index.
    #[error("{what} list specified but no ISAM file found for {what} in {}", path.display())]
    MissingIsamIndex {
        /// `GI` or `SI`.
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
        /// Whether the list includes or excludes.
        sign: TaxidSign,
    },
    /// A restriction to taxids in a version-4 database.
    #[error("Taxonomy filtering is not supported in v4 BLAST dbs")]
    TaxidListNeedsVersion5,
    /// A binary list of identifiers for a version-4 database.
    #[error("Seqidlist is not in BLAST db v4 format")]
    BinarySeqIdListNeedsVersion5,
    /// An alias that names several lists where one is allowed.
    #[error(
        "Alias file ({}) has multiple {what} lists ({names}).",
        path.parent().unwrap_or(Path::new("")).display()
    )]
    MultipleAliasLists {
        /// The alias file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// `GI`, `SEQID` or `Tax ids`.
        what: &'static str,
        /// The value.
        names: String,
    },
    /// Aliases of one volume with different membership bits.
    #[error("MEMB_BIT error: conflicting bit found.")]
    ConflictingMemberBits,
    /// A list that does not exist; BLAST+ ends with an uncaught exception.
    #[error(
        "NCBI C++ Exception:\n    T0 \"c++/include/corelib/ncbidiag.hpp\", line 5694: Error: \
         (CFileException::eMemoryMap) ncbi::CMemoryFileMap::CMemoryFileMap() - To be memory mapped the file must \
         exist: '{}'\n",
        path.display()
    )]
    MissingList {
        /// The file as named.
        path: PathBuf,
    },
    /// A list of an alias that does not exist. BLAST+ reads such lists with the volumes: lists of
    /// GIs, and in version 4 of identifiers.
    #[error("Cannot memory map {}.", path.display())]
    MissingVolumeList {
        /// The file.
        path: PathBuf,
    },
    /// A list that cannot be read.
    #[error("{problem}")]
    InvalidList {
        /// The file.
        path: PathBuf,
        /// Description of the error.
        problem: crate::restrict::ListError,
    },
    /// A word that cannot be used as an identifier.
    #[error(transparent)]
    InvalidIdentifier(Box<IdentifierError>),
    /// The operating system reported an error.
    #[error("cannot read ({}): {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

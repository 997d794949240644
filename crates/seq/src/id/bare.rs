//! Parses words without a tag: accessions of known shape, identifiers with the name of a database
//! before a colon, and local identifiers (`CSeq_id::Set`).

use super::accession::{AccessionType, identify_accession};
use super::exception::IdException;
use super::tagged::text;
use super::{MAX_LOCAL, ObjectId, SeqId, TextKind};
use crate::convert::trim_spaces;

/// Databases that may stand before a colon and a bare identifier: `SRA:SRR123.1`.
const COLON_DATABASES: [&str; 21] = [
    "ATGC",
    "BCMHGSC",
    "BERKELEY",
    "CELERA",
    "GSDB",
    "HOOD",
    "LANLCHGS",
    "LRG",
    "MIPS",
    "NCBI_GENOMES",
    "NCBI_MITO",
    "PGEC",
    "SGD",
    "SHGC",
    "SRA",
    "TIGR",
    "UOKNOR",
    "UWGC",
    "WASHU",
    "WIBR",
    "WUGSC",
];

/// The words that count as local identifiers if they are not accessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocalIds {
    /// No word.
    None,
    /// Words of at most [`MAX_LOCAL`] bytes, without spaces, control characters, bytes above 127
    /// and the characters `>[]|"`.
    Valid,
    /// All words.
    Any,
}

impl LocalIds {
    fn include(self, word: &[u8]) -> bool {
        let odd = |c: &u8| !(b' '..=127).contains(c) || b" >[]|\"".contains(c);
        match self {
            Self::None => false,
            Self::Valid => word.len() <= MAX_LOCAL && !word.iter().any(odd),
            Self::Any => true,
        }
    }
}

/// Parses a word without tag: an accession of known shape, `SRA:...`, or a local identifier.
pub(super) fn parse_bare(word: &[u8], locals: LocalIds) -> Result<SeqId, IdException> {
    if word.is_empty() {
        return Err(IdException::empty());
    }
    match identify_accession(word) {
        AccessionType::Pdb => return Ok(pdb_bare(word)),
        AccessionType::Text(TextKind::Prf, _) => return text(TextKind::Prf, b"", word, b""),
        AccessionType::Text(kind, _) => {
            return text(kind, word, b"", b"")
                .map_err(|_| IdException::version("s_SplitVersion", 157, word));
        }
        AccessionType::Unknown => {}
    }
    if let Some(colon) = word.iter().position(|&c| c == b':') {
        let (db, tag) = (&word[..colon], &word[colon + 1..]);
        let known = |name: &&str| name.as_bytes().eq_ignore_ascii_case(db);
        if COLON_DATABASES.iter().any(known) {
            let tag = ObjectId::from_text(trim_spaces(tag));
            return Ok(SeqId::General { db: db.to_vec(), tag });
        }
    }
    match locals.include(word) {
        true => Ok(SeqId::Local(ObjectId::from_text(word))),
        false => Err(IdException::malformed(word)),
    }
}

/// Parses a PDB entry, possibly with a chain after one separating character. A single character
/// right after the entry is also its chain.
fn pdb_bare(word: &[u8]) -> SeqId {
    let chain = match word {
        [_, _, _, _, last] if *last != b'|' => &word[4..],
        _ => word.get(5..).unwrap_or_default(),
    };
    SeqId::Pdb { mol: word[..4].to_vec(), chain: trim_spaces(chain).to_vec() }
}

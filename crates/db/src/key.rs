//! Lookup keys of identifiers.

use fleetblast_seq::convert::parse_integer;
use fleetblast_seq::id::{
    FirstId, IdException, NumberKind, ObjectId, SeqId, TextKind, choose_best_id, parse_fasta_ids,
    parse_first_id, parse_first_id_with_surplus, parse_lookup_ids,
};

/// Maximal number of digits of the version in a key. A lookup may omit the version.
const VERSION_DIGITS: usize = 3;
/// Databases that stand before a colon in version-4 identifiers such as `SRA:id`.
const COLON_DATABASES: [&str; 4] = ["CDD", "SRA", "TSA", "GNOMON"];

/// The lookup of an identifier in version 4: an index, and the key in this index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Version4Lookup {
    /// Lookup of this GI in the GI index.
    Gi(i64),
    /// No lookup: the identifier is the number of the sequence in its volume.
    Ordinal(u32),
    /// Lookup of this number in the index of PIGs.
    Pig(i64),
    /// Lookup of this trace number. Indexes of traces are not supported, so the string index is
    /// searched for the whole word.
    Trace(i64),
    /// Lookup of this key in the string index.
    Text(Vec<u8>),
}

/// Returns the version-5 key of an identifier from the command line
/// (`s_PreProcessAccessionsForDBv5`, blastdbcmd.cpp).
pub(super) fn typed_id_key(id: &[u8]) -> Vec<u8> {
    if !id.iter().any(|b| b"|_".contains(b)) {
        return id.to_ascii_uppercase();
    }
    parse_first_id(id).map_or_else(|_| id.to_ascii_uppercase(), |id| version_5_key(&id))
}

/// Returns the version-5 key of an identifier.
pub(crate) fn version_5_key(id: &SeqId) -> Vec<u8> {
    match id {
        SeqId::Text { kind: TextKind::Pir | TextKind::Prf, .. } => id.fasta(),
        id => id.accession_version(),
    }
}

/// Removes blanks at the end of a key, since lookups ignore them. The key of a PDB entry without
/// chain ends with blanks.
pub(crate) fn trim_trailing_blanks(key: &[u8]) -> &[u8] {
    &key[..key.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1)]
}

/// Parses the first identifier of a word. Accepts also a PDB entry and chain without a tag.
pub(crate) fn parse_first_id_or_pdb(word: &[u8]) -> Option<SeqId> {
    // A PDB entry of four characters, a bar and the chain, without a tag.
    if let Some(bar) = word.iter().position(|&b| b == b'|')
        && bar == 4
    {
        let bare = [&word[..bar], b"_", &word[bar + 1..]].concat();
        if let Some(pdb @ SeqId::Pdb { .. }) = parse_fasta_ids(&bare).ok()?.into_iter().next() {
            return Some(pdb);
        }
    }
    parse_fasta_ids(word).ok()?.into_iter().next()
}

/// Parses a key as an integer, which can be a GI.
pub(super) fn parse_integer_key(key: &[u8]) -> Option<i64> {
    parse_integer(key, 10).ok()
}

/// Chooses the kind of lookup in version 4 (`SeqDB_SimplifyAccession`, seqdbcommon.cpp).
///
/// # Errors
/// [`IdException`] for an identifier with a known tag and invalid parts.
pub(super) fn version_4_lookup(key: &[u8]) -> Result<Version4Lookup, IdException> {
    if let Some(id) = choose_best_id(&parse_lookup_ids(key)?) {
        return simplify(id, key);
    }
    let text = match parse_fasta_ids(key).ok().and_then(|ids| ids.into_iter().next()) {
        Some(id @ SeqId::Pdb { .. }) if key.contains(&b'_') => id.fasta(),
        Some(SeqId::Local(_)) if parse_integer(key, 10).is_ok() => [b"lcl|", key].concat(),
        Some(SeqId::Local(_)) => with_colon(key).unwrap_or_else(|| key.to_vec()),
        _ => key.to_vec(),
    };
    Ok(Version4Lookup::Text(text.to_ascii_lowercase()))
}

/// Converts `sra:id` to `gnl|sra|id`.
fn with_colon(key: &[u8]) -> Option<Vec<u8>> {
    let colon = key.iter().position(|&b| b == b':')?;
    let (db, id) = (&key[..colon], &key[colon + 1..]);
    let known = |name: &&str| name.as_bytes().eq_ignore_ascii_case(db);
    COLON_DATABASES.iter().any(known).then(|| [b"gnl|", db, b"|", id].concat())
}

/// Chooses the kind of lookup for a parsed identifier (`SeqDB_SimplifySeqid`, seqdbcommon.cpp).
fn simplify(id: &SeqId, word: &[u8]) -> Result<Version4Lookup, IdException> {
    let text = match id {
        SeqId::Gi(number) => return Ok(Version4Lookup::Gi(*number)),
        SeqId::Numbered(NumberKind::BackboneSequence, number) => number.to_string().into_bytes(),
        SeqId::General { db, tag } => match (&db[..], tag) {
            (b"BL_ORD_ID", tag) => {
                let number = u32::try_from(tag.number()?).unwrap_or(u32::MAX);
                return Ok(Version4Lookup::Ordinal(number));
            }
            (b"PIG", tag) => return tag.number().map(Version4Lookup::Pig),
            (b"ti", tag) => return tag.parse_number().map(Version4Lookup::Trace),
            (db, _) if db.eq_ignore_ascii_case(b"GNOMON") => id.fasta(),
            (_, ObjectId::Text(text)) => text.clone(),
            (_, ObjectId::Number(_)) => word.to_vec(),
        },
        SeqId::Local(ObjectId::Text(text)) => text.clone(),
        SeqId::Local(ObjectId::Number(_)) => id.fasta(),
        SeqId::Text { kind: TextKind::NamedAnnotTrack, .. } => word.to_vec(),
        SeqId::Text { accession, name, version, .. } => match (accession, version) {
            (none, _) if none.is_empty() => name.clone(),
            (accession, Some(version)) => [accession, format!(".{version}").as_bytes()].concat(),
            (accession, None) => accession.clone(),
        },
        SeqId::Numbered(..) | SeqId::Pdb { .. } | SeqId::Patent { .. } => word.to_vec(),
    };
    Ok(Version4Lookup::Text(text.to_ascii_lowercase()))
}

/// Splits a key into accession and version; `None` without a version.
pub(super) fn split_version(key: &[u8]) -> Option<(&[u8], u32)> {
    let dot = key.iter().position(|&b| b == b'.')?;
    let (accession, digits) = (&key[..dot], &key[dot + 1..]);
    if digits.is_empty() || digits.len() > VERSION_DIGITS || !digits.iter().all(u8::is_ascii_digit)
    {
        return None;
    }
    Some((accession, std::str::from_utf8(digits).ok()?.parse().ok()?))
}

/// Returns whether one of the identifiers has the accession in `word` and the version `wanted`.
pub(super) fn has_version<'a>(
    ids: impl IntoIterator<Item = &'a SeqId>,
    word: &[u8],
    wanted: u32,
) -> bool {
    let end = word.iter().position(|&b| b == b'.').unwrap_or(word.len());
    let start = word[..end].iter().rposition(|&b| b == b'|').map_or(0, |bar| bar + 1);
    ids.into_iter().any(|id| match id {
        SeqId::Text { accession, version: Some(version), .. } => {
            *accession == word[start..end] && *version == wanted
        }
        _ => false,
    })
}

/// Returns the FASTA form of an identifier, which is the last key that version 4 tries.
pub(super) fn fasta_id(key: &[u8]) -> Option<Vec<u8>> {
    parse_first_id_or_pdb(key).map(|id| id.fasta())
}

/// Returns the spellings of an identifier that lists can contain. Version 5: with and without
/// version. Version 4: with and without the text after the first dot (`CSeqDBGiList::FindId`,
/// seqdbcommon.cpp).
pub(crate) fn id_spellings(id: &SeqId) -> Vec<Vec<u8>> {
    let without = match id {
        SeqId::Text { kind: TextKind::Pir | TextKind::Prf, .. } => id.fasta(),
        id => id.accession(),
    };
    let mut spellings = vec![version_5_key(id), without];
    match simplify(id, &id.fasta()) {
        Ok(Version4Lookup::Text(text)) => {
            let dot = text.iter().position(|&b| b == b'.');
            spellings.extend(dot.map(|dot| text[..dot].to_vec()));
            spellings.push(text);
        }
        // `version_4_list_key` gives an empty key for such identifiers.
        Ok(_) => spellings.push(Vec::new()),
        // BLAST+ ends with an exception here.
        Err(_) => {}
    }
    spellings
}

/// Returns the version-4 key of an identifier in a list of identifiers. The key is empty for
/// identifiers that such a list cannot contain, such as a GI.
///
/// # Errors
/// [`IdException`] for an identifier with a known tag and invalid parts.
pub(crate) fn version_4_list_key(id: &[u8]) -> Result<Vec<u8>, IdException> {
    Ok(match version_4_lookup(id)? {
        Version4Lookup::Text(text) => text,
        Version4Lookup::Gi(_)
        | Version4Lookup::Ordinal(_)
        | Version4Lookup::Pig(_)
        | Version4Lookup::Trace(_) => Vec::new(),
    })
}

/// The version-5 key of a word in a text list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListKey {
    /// The key; `None` for a GI.
    pub key: Option<Vec<u8>>,
    /// Number of parts of the word after the identifier. The key ignores them.
    pub surplus_parts: usize,
}

/// Returns the version-5 key of a word in a text list (`s_ProcessSeqIDsForV5`,
/// seqdbgilistset.cpp).
///
/// # Errors
/// [`IdException`] for a word that is not a valid identifier.
pub fn version_5_list_key(word: &[u8]) -> Result<ListKey, IdException> {
    let FirstId { id, surplus_parts } = parse_first_id_with_surplus(word)?;
    let key = match id {
        SeqId::Gi(_) => None,
        id => Some(version_5_key(&id)),
    };
    Ok(ListKey { key, surplus_parts })
}

/// Result of comparing a key with an identifier that differs from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartialKeyMatch {
    /// The key is the PDB entry of the identifier, without the chain.
    PdbEntry,
    /// The key is the accession of the identifier, without the version.
    WithoutVersion,
    /// The key does not match.
    NoMatch,
}

impl PartialKeyMatch {
    /// Compares `key` with `id`.
    pub(crate) fn compare(id: &[u8], key: &[u8]) -> Self {
        match parse_first_id_or_pdb(id) {
            Some(SeqId::Pdb { mol, .. }) if mol == key => Self::PdbEntry,
            Some(id) if id.accession() == key => Self::WithoutVersion,
            _ => Self::NoMatch,
        }
    }
}

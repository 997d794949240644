//! Lookup keys of identifiers.

use fleetblast_seq::convert::parse_integer;
use fleetblast_seq::id::{
    IdRefusal, NumberKind, ObjectId, SeqId, TextKind, choose_best_id, parse_fasta_ids,
    parse_first_id, parse_lookup_ids,
};

/// Maximal number of digits of a version that a lookup may omit.
const VERSION_DIGITS: usize = 3;
/// Databases before a colon in version-4 identifiers such as `SRA:id`.
const COLON_DATABASES: [&str; 4] = ["CDD", "SRA", "TSA", "GNOMON"];

/// The index that version 4 looks up an identifier in, and the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Version4Lookup {
    /// By the GI index.
    Gi(i64),
    /// No index: the identifier is the number of the sequence in its volume.
    Ordinal(u32),
    /// By the index of PIGs, which is not supported.
    Pig,
    /// By the number of a trace. Indexes of traces are not supported, so the whole word is looked
    /// up in the string index.
    Trace(i64),
    /// By the string index, under this key.
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

/// Removes blanks at the end of a key; lookups ignore them. The key of a PDB entry without chain
/// has some.
pub(crate) fn trim_trailing_blanks(key: &[u8]) -> &[u8] {
    &key[..key.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1)]
}

/// Parses the first identifier of a word.
pub(crate) fn parse_first_id_or_pdb(word: &[u8]) -> Option<SeqId> {
    // A PDB entry and its chain without a tag.
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
/// An identifier with a known tag and invalid parts.
pub(super) fn version_4_lookup(key: &[u8]) -> Result<Version4Lookup, IdRefusal> {
    if let Some(id) = choose_best_id(&parse_lookup_ids(key)?) {
        return simplified(id, key);
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
fn simplified(id: &SeqId, word: &[u8]) -> Result<Version4Lookup, IdRefusal> {
    let text = match id {
        SeqId::Gi(number) => return Ok(Version4Lookup::Gi(*number)),
        SeqId::Numbered(NumberKind::BackboneSequence, number) => number.to_string().into_bytes(),
        SeqId::General { db, tag } => match (&db[..], tag) {
            (b"BL_ORD_ID", tag) => {
                let number = u32::try_from(tag.number()?).unwrap_or(u32::MAX);
                return Ok(Version4Lookup::Ordinal(number));
            }
            (b"PIG", tag) => return tag.number().map(|_| Version4Lookup::Pig),
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

/// Whether one of the identifiers has exactly the accession and the version in `word`.
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

/// Returns the FASTA form of an identifier, which version 4 looks up last.
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
    match simplified(id, &id.fasta()) {
        Ok(Version4Lookup::Text(text)) => {
            let dot = text.iter().position(|&b| b == b'.');
            spellings.extend(dot.map(|dot| text[..dot].to_vec()));
            spellings.push(text);
        }
        // The spelling that `version_4_list_key` gives.
        Ok(_) => spellings.push(Vec::new()),
        // BLAST+ ends with an exception here.
        Err(_) => {}
    }
    spellings
}

/// Returns the version-4 key of an identifier in a list. Empty for a GI and other identifiers that
/// this kind of list does not contain.
///
/// # Errors
/// An identifier with a known tag and invalid parts.
pub(crate) fn version_4_list_key(id: &[u8]) -> Result<Vec<u8>, IdRefusal> {
    Ok(match version_4_lookup(id)? {
        Version4Lookup::Text(text) => text,
        Version4Lookup::Gi(_)
        | Version4Lookup::Ordinal(_)
        | Version4Lookup::Pig
        | Version4Lookup::Trace(_) => Vec::new(),
    })
}

/// Returns the version-5 key of a word in a text list; `None` for a GI (`s_ProcessSeqIDsForV5`,
/// seqdbgilistset.cpp).
///
/// # Errors
/// A word that is not a valid identifier.
pub(crate) fn version_5_list_key(word: &[u8]) -> Result<Option<Vec<u8>>, IdRefusal> {
    Ok(match parse_first_id(word)? {
        SeqId::Gi(_) => None,
        id => Some(version_5_key(&id)),
    })
}

/// Result of comparing a key with an identifier that is not equal to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartialKeyMatch {
    /// The key is the PDB entry of the identifier's chain.
    PdbEntry,
    /// The key is the accession without the version.
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

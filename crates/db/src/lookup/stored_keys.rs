//! Computes the keys that the lookup files must have for an identifier.
//!
//! The integrity check uses them, so this code is independent of the code that writes the files.

use std::borrow::Cow;

use fleetblast_seq::id::{ObjectId, SeqId, TextKind};

/// Calls `key` with every key that the table `acc2oid` must have for an identifier. The second
/// argument states whether the `.?os` file lists this key (`CWriteDB_LMDB::x_InsertEntry`,
/// writedb_lmdb.cpp).
pub(crate) fn accession_keys(id: &SeqId, mut key: impl FnMut(Vec<u8>, bool)) {
    let mut and_upper = |text: Vec<u8>, listed: bool| {
        let upper = text.to_ascii_uppercase();
        let differs = upper != text;
        key(text, listed);
        if differs {
            key(upper, false);
        }
    };
    match id {
        SeqId::Gi(_) => {}
        SeqId::Text { kind: TextKind::Pir | TextKind::Prf, .. } => key(id.fasta(), true),
        SeqId::Text { .. } => {
            let (plain, versioned) = (id.accession(), id.accession_version());
            if plain != versioned {
                key(plain, false);
            }
            key(versioned, true);
        }
        SeqId::Pdb { mol, .. } => {
            and_upper(mol.clone(), false);
            key(id.accession_version(), true);
        }
        _ => and_upper(id.accession_version(), true),
    }
}

/// Prefix of the version-4 keys of sequences without identifiers of their own. The string index has
/// such keys if `makeblastdb` wrote hashes.
const ORDINAL: &str = "gnl|bl_ord_id|";

/// Returns the version-4 key of a sequence without identifiers of its own. `oid` counts from 0 in
/// the volume.
pub(crate) fn ordinal_key(oid: u32) -> Vec<u8> {
    format!("{ORDINAL}{oid}").into_bytes()
}

/// Corrects an ordinal key for `oid`, the number of the sequence within the volume. Only the first
/// sequence of a volume has a wrong key: it states the number of sequences in the previous volume.
pub(crate) fn own_ordinal_key(key: &[u8], oid: u32) -> Cow<'_, [u8]> {
    match oid == 0 && key.starts_with(ORDINAL.as_bytes()) {
        true => ordinal_key(oid).into(),
        false => key.into(),
    }
}

/// Returns the keys of an identifier in the string index of version 4, in lower case
/// (`CWriteDB_IsamIndex::x_AddStringIds`, writedb_isam.cpp).
pub(crate) fn index_keys(id: &SeqId) -> Vec<Vec<u8>> {
    let mut keys = match id {
        SeqId::Gi(_) => Vec::new(),
        SeqId::Local(tag) | SeqId::General { tag, .. } => {
            let text = match tag {
                ObjectId::Text(text) => Some(text.clone()),
                ObjectId::Number(_) => None,
            };
            [id.fasta()].into_iter().chain(text).collect()
        }
        SeqId::Pdb { mol, .. } => {
            // The keys are `pdb|1ABC|A`, then without tag, then with a blank instead of the bar.
            let full = id.fasta();
            let short = full.get(4..).unwrap_or_default().to_vec();
            let mut spaced = short.clone();
            spaced.iter_mut().skip(4).take(1).for_each(|byte| *byte = b' ');
            vec![mol.clone(), full, short, spaced]
        }
        SeqId::Text { accession, version, name, .. } => {
            let plain = [accession, name].map(Clone::clone).into_iter().collect::<Vec<_>>();
            let versioned = version.filter(|&version| version > 0 && !accession.is_empty());
            let versioned =
                versioned.map(|version| [accession, format!(".{version}").as_bytes()].concat());
            plain.into_iter().filter(|key| !key.is_empty()).chain(versioned).collect()
        }
        SeqId::Patent { .. } | SeqId::Numbered(..) => vec![id.fasta()],
    };
    keys.iter_mut().for_each(|key| key.make_ascii_lowercase());
    keys
}

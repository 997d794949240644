//! Under which keys the files beside the volumes have an identifier.
//!
//! Written for checking, apart from what writes these files.

use std::borrow::Cow;

use fleetblast_seq::id::{ObjectId, SeqId, TextKind};

/// Calls `key` with every key of `acc2oid` for an identifier, and whether the `.?os` file lists the
/// identifier by it (`CWriteDB_LMDB::x_InsertEntry`, writedb_lmdb.cpp).
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

/// Starts the keys of sequences without identifiers of their own in the string index of version 4,
/// which has such keys where `makeblastdb` was asked for hashes.
const ORDINAL: &str = "gnl|bl_ord_id|";

/// The key of a sequence without identifiers of its own by its OID within the volume.
pub(crate) fn ordinal_key(oid: u32) -> Vec<u8> {
    format!("{ORDINAL}{oid}").into_bytes()
}

/// The key that `key` should be for this OID within the volume. Only for the first sequence of a
/// volume that is another one: the number of sequences in the volume before.
pub(crate) fn own_ordinal_key(key: &[u8], oid: u32) -> Cow<'_, [u8]> {
    match oid == 0 && key.starts_with(ORDINAL.as_bytes()) {
        true => ordinal_key(oid).into(),
        false => key.into(),
    }
}

/// Keys of an identifier in the string index of version 4 (`CWriteDB_IsamIndex::x_AddStringIds`,
/// writedb_isam.cpp), in lower case.
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
            // `pdb|1ABC|A`, then without tag, then with a blank for the bar.
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

//! Databases that the tests write byte by byte, and random proteins.

// Each test file uses other items of this module.
#![allow(dead_code)]

use std::path::Path;

use fastrand::Rng;
use fleetblast_db::VolumeBytes;
use fleetblast_seq::alphabet;

/// Returns random letters: the 20 standard residues and X.
pub fn protein(random: &mut Rng, length: usize) -> Vec<u8> {
    (0..length).map(|_| b"ACDEFGHIKLMNPQRSTVWYX"[random.usize(..21)]).collect()
}

/// Returns the NCBIstdaa codes of letters.
pub fn codes(letters: &[u8]) -> Vec<u8> {
    letters.iter().map(|&letter| alphabet::encode(letter).unwrap()).collect()
}

/// Returns `count` pairs of definition line and letters. Sequences have up to 60 letters.
pub fn entries(seed: u64, count: usize) -> Vec<(String, Vec<u8>)> {
    let mut random = Rng::with_seed(seed);
    (0..count)
        .map(|i| {
            let length = random.usize(1..=60);
            (format!("s{i} protein number {i}"), protein(&mut random, length))
        })
        .collect()
}

/// Encodes an ASN.1 element with a definite length.
pub fn primitive(tag: u8, contents: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    match contents.len() {
        length @ 0..128 => bytes.push(length as u8),
        length @ 128..256 => bytes.extend([0x81, length as u8]),
        length => bytes.extend([0x82, (length >> 8) as u8, length as u8]),
    }
    bytes.extend_from_slice(contents);
    bytes
}

/// Encodes an ASN.1 element of indefinite length around other elements.
pub fn constructed(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    [vec![tag, 0x80], parts.concat(), vec![0, 0]].concat()
}

pub fn string(text: &str) -> Vec<u8> {
    primitive(0x1a, text.as_bytes())
}

/// Encodes an INTEGER in minimal two's complement, as makeblastdb writes it.
pub fn integer(value: i64) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    let sign = if value < 0 { 0xff } else { 0 };
    let mut start = 0;
    while start < 7 && bytes[start] == sign && (bytes[start + 1] ^ sign) & 0x80 == 0 {
        start += 1;
    }
    primitive(2, &bytes[start..])
}

/// Encodes a Blast-def-line with one identifier.
pub fn defline(title: Option<&str>, id: Vec<u8>, taxid: i64) -> Vec<u8> {
    let mut parts = Vec::new();
    if let Some(title) = title {
        parts.push(constructed(0xa0, &[string(title)]));
    }
    parts.push(constructed(0xa1, &[constructed(0x30, &[id])]));
    parts.push(constructed(0xa2, &[integer(taxid)]));
    constructed(0x30, &parts)
}

/// Encodes the identifier `gnl|BL_ORD_ID|ordinal`.
pub fn ordinal_id(ordinal: i64) -> Vec<u8> {
    let tag = constructed(0xa1, &[constructed(0xa0, &[integer(ordinal)])]);
    constructed(0xaa, &[constructed(0x30, &[constructed(0xa0, &[string("BL_ORD_ID")]), tag])])
}

/// Version, title, LMDB file and date of a volume.
pub struct Label<'a> {
    pub version: u32,
    pub title: &'a str,
    pub lmdb: &'a str,
    pub date: &'a str,
}

/// Label of a version-4 volume.
pub const FOUR: Label<'static> =
    Label { version: 4, title: "four", lmdb: "", date: "Nov 20, 2026  11:10 PM" };
/// Label of a version-5 volume.
pub const FIVE: Label<'static> =
    Label { version: 5, title: "five", lmdb: "x.pdb", date: "Nov 21, 2026  1:10 AM" };

/// Returns the files of a volume as makeblastdb without `-parse_seqids` writes them.
pub fn volume(label: &Label<'_>, entries: &[(String, Vec<u8>)]) -> VolumeBytes {
    let (mut residues, mut headers) = (vec![0u8], Vec::new());
    let (mut header_at, mut residue_at) = (vec![0u32], vec![1u32]);
    for (ordinal, (line, letters)) in entries.iter().enumerate() {
        residues.extend(codes(letters));
        residues.push(0);
        let line = defline(Some(line), ordinal_id(ordinal as i64), 0);
        headers.extend(constructed(0x30, &[line]));
        header_at.push(headers.len() as u32);
        residue_at.push(residues.len() as u32);
    }
    let mut index = Vec::new();
    let number = |index: &mut Vec<u8>, value: u32| index.extend(value.to_be_bytes());
    number(&mut index, label.version);
    number(&mut index, 1);
    if label.version == 5 {
        number(&mut index, 0);
    }
    number(&mut index, label.title.len() as u32);
    index.extend(label.title.bytes());
    if label.version == 5 {
        number(&mut index, label.lmdb.len() as u32);
        index.extend(label.lmdb.bytes());
    }
    // The tables begin at a multiple of 8, and 20 bytes stand between the date and the tables.
    let padding = (8 - (index.len() + 4 + label.date.len() + 16) % 8) % 8;
    number(&mut index, (label.date.len() + padding) as u32);
    index.extend(label.date.bytes());
    index.resize(index.len() + padding, 0);
    number(&mut index, entries.len() as u32);
    let total: usize = entries.iter().map(|(_, letters)| letters.len()).sum();
    index.extend((total as u64).to_le_bytes());
    number(&mut index, entries.iter().map(|(_, letters)| letters.len()).max().unwrap_or(0) as u32);
    index.extend(header_at.iter().chain(&residue_at).flat_map(|offset| offset.to_be_bytes()));
    VolumeBytes { index, residues, headers }
}

/// Writes a volume to `directory/name.*`, with an empty LMDB file if it names one.
pub fn write(directory: &Path, name: &str, label: &Label<'_>, entries: &[(String, Vec<u8>)]) {
    let bytes = volume(label, entries);
    for (extension, contents) in
        [("pin", bytes.index), ("psq", bytes.residues), ("phr", bytes.headers)]
    {
        std::fs::write(directory.join(format!("{name}.{extension}")), contents).unwrap();
    }
    if !label.lmdb.is_empty() {
        std::fs::write(directory.join(label.lmdb), b"").unwrap();
    }
}

//! Identifiers of definition lines, and the keys under which they are indexed.

use fleetblast_seq::id::{
    IdException, Molecule, ObjectId, SeqId, TextKind, choose_best_id, parse_makeblastdb_ids,
};

/// Separator between definition lines of one sequence.
const SEPARATOR: u8 = 1;

/// Identifiers and title of one definition line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParsedDefline {
    pub(crate) ids: Vec<SeqId>,
    pub(crate) title: Vec<u8>,
}

/// Converts the text after `>` to its stored form: a tab, also one written `\t`, becomes three
/// blanks.
fn replace_tabs(text: &[u8]) -> Vec<u8> {
    let mut stored = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        match (byte, after.first()) {
            (b'\t', _) => stored.extend(b"   "),
            (b'\\', Some(b't')) => {
                stored.extend(b"   ");
                rest = &after[1..];
                continue;
            }
            _ => stored.push(byte),
        }
        rest = after;
    }
    stored
}

/// Returns the title of a sequence whose identifiers are not parsed: the whole text after `>`.
pub(crate) fn unparsed_title(text: &[u8]) -> Vec<u8> {
    let mut title = replace_tabs(text);
    title.iter_mut().filter(|byte| **byte == SEPARATOR).for_each(|byte| *byte = b' ');
    title
}

/// Parses the definition lines in the text after `>`. The word before the first blank of each line
/// has its identifiers. An identifier without a bar becomes local if it looks like one of PIR, of
/// PRF or of the other molecule type.
pub(crate) fn parse_deflines(
    text: &[u8],
    molecule: Molecule,
) -> Result<Vec<ParsedDefline>, IdException> {
    replace_tabs(text)
        .split(|&byte| byte == SEPARATOR)
        .map(|line| {
            let blank = line.iter().position(|&byte| byte == b' ');
            let (word, title) = match blank {
                Some(blank) => (&line[..blank], &line[blank + 1..]),
                None => (line, &b""[..]),
            };
            let mut ids = parse_makeblastdb_ids(word)?;
            if !word.contains(&b'|') {
                ids.iter_mut().for_each(|id| make_local_if_odd(id, molecule));
            }
            Ok(ParsedDefline { ids, title: title.to_vec() })
        })
        .collect()
}

/// Returns whether BLAST+ replaces the identifiers of a record that starts with a range of a known
/// sequence, such as `NC_000001.11:1-100`, by its number among the records without identifiers
/// (`s_UseFastaReaderDeflines`). `ranged` has the identifiers before the range.
pub(crate) fn are_replaced(lines: &[ParsedDefline], ranged: &[SeqId]) -> bool {
    let is_local = |id: &SeqId| matches!(id, SeqId::Local(_));
    let is_pir_or_prf =
        |id: &SeqId| matches!(id, SeqId::Text { kind: TextKind::Pir | TextKind::Prf, .. });
    let is_known = choose_best_id(ranged).is_some_and(|id| !is_local(id) && !is_pir_or_prf(id));
    is_known && lines.iter().all(|line| choose_best_id(&line.ids).is_none_or(is_local))
}

/// Makes the identifier of a bare word local if it looks like one of PIR, of PRF or of the other
/// molecule type.
fn make_local_if_odd(id: &mut SeqId, molecule: Molecule) {
    if matches!(id, SeqId::Text { kind: TextKind::Pir | TextKind::Prf, .. }) {
        *id = local(id);
    }
    convert_to_local(id, molecule);
}

/// Turns an identifier of the wrong molecule type into a local one (`build_db.cpp`).
pub(crate) fn convert_to_local(id: &mut SeqId, molecule: Molecule) {
    if id.molecule().is_some_and(|found| found != molecule) {
        *id = local(id);
    }
}

fn local(id: &SeqId) -> SeqId {
    SeqId::Local(ObjectId::Text(id.accession_version()))
}

/// Calls `key` with each key of an identifier in the version 5 table of accessions
/// (`CWriteDB_LMDB::x_InsertEntry`). The second argument states whether the key is also in the list
/// of the sequence's accessions.
pub(crate) fn accession_keys(id: &SeqId, mut key: impl FnMut(&[u8], bool)) {
    let with_upper = |text: &[u8], listed: bool, key: &mut dyn FnMut(&[u8], bool)| {
        key(text, listed);
        let upper = text.to_ascii_uppercase();
        if upper != text {
            key(&upper, false);
        }
    };
    match id {
        SeqId::Gi(_) => {}
        SeqId::Text { kind: TextKind::Pir | TextKind::Prf, .. } => key(&id.fasta(), true),
        SeqId::Pdb { mol, .. } => {
            with_upper(mol, false, &mut key);
            key(&id.accession_version(), true);
        }
        SeqId::Text { .. } => {
            let (plain, versioned) = (id.accession(), id.accession_version());
            if plain != versioned {
                key(&plain, false);
            }
            key(&versioned, true);
        }
        _ => with_upper(&id.accession_version(), true, &mut key),
    }
}

/// Adds the lines of an identifier in the version 4 string index to `seen`, without duplicates
/// (`CWriteDB_IsamIndex::x_AddStringIds`). The lines contain `number`, the number of the sequence,
/// and end with a line feed.
pub(crate) fn string_index_lines(id: &SeqId, number: u32, seen: &mut Vec<Vec<u8>>) {
    let mut add = |key: &[u8]| {
        let mut line = key.to_ascii_lowercase();
        line.push(2);
        line.extend_from_slice(format!("{number}\n").as_bytes());
        if !seen.contains(&line) {
            seen.push(line);
        }
    };
    match id {
        SeqId::Gi(_) => {}
        SeqId::Local(local) => {
            add(&id.fasta());
            if let ObjectId::Text(text) = local {
                add(text);
            }
        }
        SeqId::General { tag, .. } => {
            add(&id.fasta());
            if let ObjectId::Text(text) = tag {
                add(text);
            }
        }
        SeqId::Pdb { mol, .. } => {
            add(mol);
            let full = id.fasta();
            add(&full);
            let short = &full[4..];
            add(short);
            let mut spaced = short.to_vec();
            if let Some(bar) = spaced.get_mut(4).filter(|byte| **byte == b'|') {
                *bar = b' ';
            }
            add(&spaced);
        }
        SeqId::Text { accession, version, name, .. } => {
            if !accession.is_empty() {
                add(accession);
            }
            if !name.is_empty() && !name.eq_ignore_ascii_case(accession) {
                add(name);
            }
            if let (Some(version @ 1..), false) = (version, accession.is_empty()) {
                add(&[accession, format!(".{version}").as_bytes()].concat());
            }
        }
        SeqId::Patent { .. } | SeqId::Numbered(..) => add(&id.fasta()),
    }
}

/// Returns the form of an identifier that must be unique in a volume, as in BLAST+'s message
/// (`CSeq_id::GetLabel`, upper case).
pub(crate) fn unique_label(id: &SeqId) -> Vec<u8> {
    let bare = match id {
        SeqId::Text { kind: kind @ (TextKind::Pir | TextKind::Prf), name, .. }
            if !name.is_empty() =>
        {
            [kind.tag().as_bytes(), b"|", name].concat()
        }
        SeqId::Text { kind, .. } => [kind.tag().as_bytes(), b"|", &id.accession_version()].concat(),
        SeqId::Pdb { mol, chain } => {
            // Chains are case sensitive.
            let bar = if chain.is_empty() { &b""[..] } else { b"|" };
            return [b"PDB|", &mol.to_ascii_uppercase()[..], bar, chain].concat();
        }
        _ => id.fasta(),
    };
    bare.to_ascii_uppercase()
}

/// Returns the key of an identifier in the map of taxonomy ids: the identifier without tag and
/// version (`GetSeqIdKey`).
pub(crate) fn key_without_version(id: &SeqId) -> Vec<u8> {
    match id {
        SeqId::General { tag, .. } => tag.text(),
        _ => id.accession(),
    }
}

//! Finds the database of an accession by its shape (`CSeq_id::IdentifyAccession`).
//!
//! Accessions are letters followed by digits. NCBI assigns combinations of a prefix and a number of
//! digits to databases. The tables `data/accession_rules.txt` and `data/accession_exceptions.txt`
//! have these assignments as of BLAST+ 2.12.0.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Molecule, SeqId, TextKind};

/// The database and molecule type that a bare accession indicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessionType {
    /// An accession of this database, with its molecule type if that is known.
    Text(TextKind, Option<Molecule>),
    /// A PDB entry, possibly with a chain.
    Pdb,
    /// An accession of no known database.
    Unknown,
}

/// Identifies the database of a bare accession with or without version. A number is not a gi here.
pub fn identify_accession(accession: &[u8]) -> AccessionType {
    let (main, version) = match accession.iter().position(|&c| c == b'.') {
        Some(dot) => (&accession[..dot], Some(&accession[dot + 1..])),
        None => (accession, None),
    };
    if version.is_some_and(|v| super::digits(v).is_none() && !all_digits(v)) {
        return AccessionType::Unknown;
    }
    identify_main(&main.to_ascii_uppercase(), version.is_some())
}

fn all_digits(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

fn identify_main(main: &[u8], has_version: bool) -> AccessionType {
    let Some(letters) = main.iter().position(u8::is_ascii_digit) else {
        return AccessionType::Unknown;
    };
    let after = main[letters..].iter().position(|c| !c.is_ascii_digit()).map(|n| letters + n);
    let Some(after) = after else {
        return look_up(&main[..letters], &main[letters..], None);
    };
    // A letter among or after the digits occurs in special formats only.
    if !has_version && is_pdb(main, letters, after) {
        return AccessionType::Pdb;
    }
    if is_uniprot(main, letters) {
        return AccessionType::Text(TextKind::SwissProt, Some(Molecule::Protein));
    }
    if !has_version && is_prf(main, letters, after) {
        return AccessionType::Text(TextKind::Prf, Some(Molecule::Protein));
    }
    // Members of whole-genome projects have accessions such as AAAA01P000001.
    let flag = main[after];
    let flagged = letters >= 4
        && after == letters + 2
        && main.len() - after >= 6
        && main[3] != b'_'
        && matches!(flag, b'S' | b'P')
        && main[after + 1..].iter().all(u8::is_ascii_digit);
    if !flagged {
        return AccessionType::Unknown;
    }
    let digits = [&main[letters..after], &main[after + 1..]].concat();
    look_up(&main[..letters], &digits, Some(flag))
}

/// Returns whether the text is a PDB entry: `1ABC`, or with a chain after a bar, hyphen or
/// underscore.
fn is_pdb(main: &[u8], first_digit: usize, first_letter: usize) -> bool {
    let shape = first_digit == 0
        && first_letter < 5
        && main.len() >= 4
        && main[1..4].iter().all(u8::is_ascii_alphanumeric);
    let chain = main.len() > 4
        && main.len() <= 17
        && matches!(main[4], b'|' | b'-' | b'_')
        && (main.len() <= 6 || main[5].is_ascii_alphanumeric());
    shape && (chain || main.len() == 4)
}

/// Returns whether the text has one of UniProt's formats of 6 and 10 characters: `P1A2B3`,
/// `A0A024R1R8`.
fn is_uniprot(main: &[u8], first_digit: usize) -> bool {
    if first_digit != 1 {
        return false;
    }
    let letter = |i: usize| main[i].is_ascii_alphabetic();
    let either = |i: usize| main[i].is_ascii_alphanumeric();
    let digit = |i: usize| main[i].is_ascii_digit();
    let opq = matches!(main[0], b'O' | b'P' | b'Q');
    match main.len() {
        6 => (opq || letter(2)) && either(2) && either(3) && either(4) && digit(5),
        10 => {
            !opq && letter(2)
                && either(3)
                && either(4)
                && digit(5)
                && letter(6)
                && either(7)
                && either(8)
                && digit(9)
        }
        _ => false,
    }
}

/// Returns whether the text is a PRF accession, such as `0806162C`: six or seven digits and one or
/// two letters, possibly with more after a colon.
fn is_prf(main: &[u8], first_digit: usize, first_letter: usize) -> bool {
    let at = |i: usize| main.get(i).copied();
    let ends = |i: usize| matches!(at(i), None | Some(b':'));
    first_digit == 0
        && matches!(first_letter, 6 | 7)
        && (ends(first_letter + 1)
            || (at(first_letter + 1).is_some_and(|c| c.is_ascii_alphabetic())
                && ends(first_letter + 2)))
}

/// Looks up the letters and digits of an accession in the tables.
fn look_up(letters: &[u8], digits: &[u8], flag: Option<u8>) -> AccessionType {
    let shape = (letters.len(), digits.len());
    let Some(patterns) = RULES.get(&shape) else { return AccessionType::Unknown };
    let exact = patterns.iter().find(|p| p.letters.as_bytes() == letters);
    let entry = exact.or_else(|| patterns.iter().find(|p| p.matches(letters)));
    let Some(mut entry) = entry.map(|p| p.entry) else { return AccessionType::Unknown };
    if let Some(exception) = exception(letters, digits) {
        entry = exception;
    }
    match entry.kind {
        // The letter P among the digits marks the proteins of a project.
        Some(kind) if flag == Some(b'P') => AccessionType::Text(kind, Some(Molecule::Protein)),
        Some(kind) => AccessionType::Text(kind, entry.molecule),
        None => AccessionType::Unknown,
    }
}

/// Database and molecule type in a line of the tables.
#[derive(Clone, Copy, Debug)]
struct Entry {
    kind: Option<TextKind>,
    molecule: Option<Molecule>,
}

impl Entry {
    fn parse(tag: &str, molecule: &str) -> Self {
        let molecule = match molecule {
            "p" => Some(Molecule::Protein),
            "n" => Some(Molecule::Nucleotide),
            _ => None,
        };
        Self { kind: super::tagged::text_kind(tag.as_bytes()), molecule }
    }
}

#[derive(Debug)]
struct Pattern {
    letters: &'static str,
    entry: Entry,
}

impl Pattern {
    fn matches(&self, letters: &[u8]) -> bool {
        let matches = |(&p, c): (&u8, &u8)| {
            if p == b'?' { c.is_ascii_alphanumeric() } else { p == *c }
        };
        self.letters.as_bytes().iter().zip(letters).all(matches)
    }
}

static RULES: LazyLock<HashMap<(usize, usize), Vec<Pattern>>> = LazyLock::new(|| {
    let mut rules: HashMap<_, Vec<Pattern>> = HashMap::new();
    for line in lines(include_str!("../../data/accession_rules.txt")) {
        let mut words = line.split(' ');
        let (Some(shape), Some(tag), Some(molecule)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let entry = Entry::parse(tag, molecule);
        if let Some((letters, digits)) = shape.split_once('+')
            && let (Ok(letters), Ok(digits)) = (letters.parse(), digits.parse())
        {
            let patterns = rules.entry((letters, digits)).or_default();
            patterns.extend(words.map(|letters| Pattern { letters, entry }));
        }
    }
    rules
});

/// A database and the ascending ranges of accession numbers that belong to it.
type Numbers = (Entry, Vec<(u64, u64)>);

/// Accessions that belong to another database than their letters indicate.
#[derive(Debug, Default)]
struct Exceptions {
    /// Ranges of numbers, by letters and number of digits.
    numbers: HashMap<(&'static str, usize), Vec<Numbers>>,
    /// First and last letters, and number of digits. All accessions with letters in this range
    /// belong to the entry's database.
    letters: Vec<(&'static str, &'static str, usize, Entry)>,
}

static EXCEPTIONS: LazyLock<Exceptions> = LazyLock::new(|| {
    let mut all = Exceptions::default();
    let mut current = None;
    for line in lines(include_str!("../../data/accession_exceptions.txt")) {
        if let Some(ranges) = line.strip_prefix(' ') {
            let list = current.and_then(|key| all.numbers.get_mut(&key)?.last_mut());
            if let Some((_, list)) = list {
                extend_ranges(list, ranges);
            }
            continue;
        }
        let mut words = line.split(' ');
        let shape = words.next().and_then(|shape| shape.split_once('+'));
        let (Some((letters, digits)), Some(tag), Some(molecule)) =
            (shape, words.next(), words.next())
        else {
            continue;
        };
        let (digits, entry) = (digits.parse().unwrap_or(0), Entry::parse(tag, molecule));
        if let Some((first, last)) = letters.split_once('-') {
            all.letters.push((first, last, digits, entry));
        } else {
            all.numbers.entry((letters, digits)).or_default().push((entry, Vec::new()));
            current = Some((letters, digits));
        }
    }
    all
});

/// Parses words `gap` and `gap+more`. Each range starts `gap` after the end of the last one and has
/// `more` further numbers.
fn extend_ranges(ranges: &mut Vec<(u64, u64)>, words: &str) {
    let mut last = ranges.last().map_or(0, |range| range.1);
    for word in words.split(' ') {
        let (gap, more) = word.split_once('+').unwrap_or((word, "0"));
        let first = last + gap.parse::<u64>().unwrap_or(0);
        last = first + more.parse::<u64>().unwrap_or(0);
        ranges.push((first, last));
    }
}

fn exception(letters: &[u8], digits: &[u8]) -> Option<Entry> {
    let letters = std::str::from_utf8(letters).ok()?;
    let number = std::str::from_utf8(digits).ok()?.parse::<u64>().ok()?;
    let holds = |ranges: &[(u64, u64)]| {
        let following = ranges.partition_point(|range| range.0 <= number);
        following > 0 && number <= ranges[following - 1].1
    };
    let lists = EXCEPTIONS.numbers.get(&(letters, digits.len()));
    if let Some((entry, _)) = lists.into_iter().flatten().find(|(_, ranges)| holds(ranges)) {
        return Some(*entry);
    }
    let within = |&&(first, last, count, _): &&(&str, &str, usize, Entry)| {
        count == digits.len() && letters.len() == first.len() && first <= letters && letters <= last
    };
    EXCEPTIONS.letters.iter().find(within).map(|found| found.3)
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl SeqId {
    /// Returns the molecule type, if the identifier indicates it (`CSeq_id::IdentifyAccession`).
    pub fn molecule(&self) -> Option<Molecule> {
        match self {
            Self::Text { kind: TextKind::Pir | TextKind::SwissProt | TextKind::Prf, .. } => {
                Some(Molecule::Protein)
            }
            Self::Text { kind, accession, .. } => match identify_accession(accession) {
                AccessionType::Text(found, molecule) => {
                    let same =
                        found == *kind || (*kind == TextKind::TpaEmbl && found == TextKind::Embl);
                    if same { molecule } else { None }
                }
                _ => None,
            },
            Self::General { db, .. } => {
                let known = [&b"SRA"[..], b"TI", b"TR_ASSM_CH", b"TRACE_ASSM", b"TRACE_CHGR"];
                let nucleotide = known.iter().any(|name| db.eq_ignore_ascii_case(name));
                nucleotide.then_some(Molecule::Nucleotide)
            }
            _ => None,
        }
    }
}

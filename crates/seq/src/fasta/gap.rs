//! Gap lines: `>?100`, `>?unk100`, possibly with modifiers such as `[gap-type=scaffold]`
//! (`CFastaReader::ParseGapLine`).
//!
//! The modifiers do not change the sequence, but BLAST+ warns of invalid ones.

use super::error::{GapLineWarning, Warning};
use crate::convert::trim_spaces;

/// Whether a gap type requires, excludes or leaves open evidence of linkage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    Unspecified,
    Forbidden,
    Required,
}

/// Names of the gap types, with the evidence that each requires. The two names of repeats mean the
/// same type.
const TYPES: [(&str, Evidence); 10] = [
    ("between-scaffolds", Evidence::Required),
    ("centromere", Evidence::Forbidden),
    ("contamination", Evidence::Required),
    ("heterochromatin", Evidence::Forbidden),
    ("repeat-between-scaffolds", Evidence::Forbidden),
    ("repeat-within-scaffold", Evidence::Required),
    ("short-arm", Evidence::Forbidden),
    ("telomere", Evidence::Forbidden),
    ("unknown", Evidence::Unspecified),
    ("within-scaffold", Evidence::Forbidden),
];
const UNSPECIFIED: &str = "unspecified";
const EVIDENCE: [&str; 12] = [
    "paired-ends",
    "align-genus",
    "align-xgenus",
    "align-trnscpt",
    "within-clone",
    "clone-contig",
    "map",
    "strobe",
    UNSPECIFIED,
    "pcr",
    "proximity-ligation",
    "other",
];

/// Returns the length of a gap, at least 1, from the text of a gap line after `>?`.
pub(super) fn length(text: &[u8], line: u64, warnings: &mut Vec<Warning>) -> usize {
    let text = trim_spaces(text);
    let text = text.strip_prefix(b"unk").map_or(text, trim_spaces);
    let (digits, rest) = text.split_at(text.iter().take_while(|c| c.is_ascii_digit()).count());
    let length = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u32>().ok());
    let length = length.filter(|&length| length > 0);
    if length.is_none() {
        warnings.push(Warning::GapSize { line });
    }
    let warned = modifiers(trim_spaces(rest)).into_iter().map(|gap| Warning::Gap { line, gap });
    warnings.extend(warned);
    length.unwrap_or(1) as usize
}

/// Returns BLAST+'s warnings about the modifiers of a gap line.
fn modifiers(mut rest: &[u8]) -> Vec<GapLineWarning> {
    let mut warned = Vec::new();
    let mut pairs: Vec<(&[u8], &[u8])> = Vec::new();
    while !rest.is_empty() {
        let Some((key, value, after)) = pair(rest) else {
            warned.push(GapLineWarning::Modifiers);
            break;
        };
        pairs.push((key, value));
        rest = trim_spaces(after);
    }
    pairs.sort_by_key(|(key, _)| *key);
    let mut found: Option<(&str, Evidence)> = None;
    let (mut conflict, mut evidence) = (false, Vec::new());
    for (key, value) in pairs {
        match &canonical(key)[..] {
            b"gap-type" => match known_type(value) {
                Some(other) => {
                    let first = *found.get_or_insert(other);
                    conflict |= is_repeat(first.0) != is_repeat(other.0)
                        || !is_repeat(first.0) && first.0 != other.0;
                }
                None => warned.push(GapLineWarning::Type(value.to_vec())),
            },
            b"linkage-evidence" => {
                for word in value.split(|&c| c == b';').filter(|word| !word.is_empty()) {
                    let word = canonical(word);
                    match EVIDENCE.iter().find(|known| known.as_bytes() == word) {
                        Some(known) => evidence.push(*known),
                        None => warned.push(GapLineWarning::Evidence(value.to_vec())),
                    }
                }
            }
            _ => warned.push(GapLineWarning::Name(key.to_vec())),
        }
    }
    if conflict {
        warned.push(GapLineWarning::Conflict);
    }
    warned.extend(misfit(found.map_or(Evidence::Unspecified, |found| found.1), &evidence));
    warned
}

/// Returns BLAST+'s warning if the evidence does not fit the gap type.
fn misfit(wanted: Evidence, evidence: &[&str]) -> Option<GapLineWarning> {
    let other = evidence.iter().any(|&word| word != UNSPECIFIED);
    match wanted {
        Evidence::Unspecified => other.then_some(GapLineWarning::UnspecifiedOnly),
        // BLAST+ does not warn of it, but other FASTA readers of NCBI do.
        Evidence::Forbidden => None,
        Evidence::Required => (!other).then_some(GapLineWarning::EvidenceMissing),
    }
}

/// Splits `[key=value]` off the start of a text. Returns the key, the value and the text after the
/// bracket.
fn pair(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let inner = text.strip_prefix(b"[")?;
    let equals = inner.iter().position(|&c| c == b'=')?;
    let (key, value) = (&inner[..equals], &inner[equals + 1..]);
    let end = value.iter().position(|&c| c == b']')?;
    Some((trim_spaces(key), trim_spaces(&value[..end]), &value[end + 1..]))
}

fn known_type(name: &[u8]) -> Option<(&'static str, Evidence)> {
    let name = canonical(name);
    TYPES.into_iter().find(|(known, _)| known.as_bytes() == name)
}

fn is_repeat(name: &str) -> bool {
    name.starts_with("repeat-")
}

/// Converts a name to lower case, with hyphens between words.
fn canonical(name: &[u8]) -> Vec<u8> {
    let letter = |&c: &u8| if matches!(c, b' ' | b'_') { b'-' } else { c.to_ascii_lowercase() };
    name.iter().map(letter).collect()
}

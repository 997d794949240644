//! Decodes HTML entities in titles.
//!
//! A library would decode other names: BLAST+ knows those of HTML 4, whose angle brackets are other
//! characters than those of HTML 5, and some of HTML 5 (`s_HtmlEntities`, ncbistr.cpp).

use std::collections::HashMap;
use std::sync::LazyLock;

/// The numbers of characters by the names of their entities.
static NAMED: LazyLock<HashMap<&'static [u8], u32>> = LazyLock::new(|| {
    let entity = |line: &'static str| {
        let (name, number) = line.split_once('\t').expect("two columns");
        (name.as_bytes(), number.parse().expect("a number"))
    };
    include_str!("entities.tsv").lines().map(entity).collect()
});

/// Maximal number of digits of a numbered entity that BLAST+ decodes.
const MOST_DIGITS: usize = 15;
/// Maximal length of the name of an entity: `#x` and the digits.
const LONGEST_NAME: usize = 2 + MOST_DIGITS;

/// Decodes HTML entities, named and numbered ones.
pub(super) fn decode_entities(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest) {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        plain.extend_from_slice(before);
        let near = &after[..after.len().min(LONGEST_NAME + 1)];
        let end = near.iter().position(|&c| c == b';');
        match end.and_then(|end| Some((end, entity(&after[..end])?))) {
            Some((end, number)) => {
                push(number, &mut plain);
                rest = &after[end + 1..];
            }
            None => {
                plain.push(b'&');
                rest = after;
            }
        }
    }
    plain.extend_from_slice(rest);
    plain
}

/// Returns the number of the character that an entity stands for; `None` if the name is not one of
/// an entity. `name` is the text between `&` and `;`.
fn entity(name: &[u8]) -> Option<u32> {
    match name {
        [b'#', b'x' | b'X', hex @ ..] => parse_number(hex, 16),
        [b'#', digits @ ..] => parse_number(digits, 10),
        name => NAMED.get(name).copied(),
    }
}

/// Parses the digits of a numbered entity. Returns the last 32 bits of the number, as BLAST+ does;
/// `None` without digits or with more than [`MOST_DIGITS`].
fn parse_number(digits: &[u8], radix: u32) -> Option<u32> {
    if digits.is_empty() || digits.len() > MOST_DIGITS {
        return None;
    }
    let add = |number: u64, &c: &u8| {
        Some(number * u64::from(radix) + u64::from(char::from(c).to_digit(radix)?))
    };
    digits.iter().try_fold(0, add).map(|number| number as u32)
}

/// Appends a character as BLAST+ does: encoded as UTF-8 even if the number is not one of a
/// character. Bits above the lowest 21 are partly lost.
fn push(number: u32, text: &mut Vec<u8>) {
    let last = |shift: u32| 0x80 | (number >> shift & 0x3f) as u8;
    match number {
        0..0x80 => text.push(number as u8),
        0x80..0x800 => text.extend([0xc0 | (number >> 6) as u8, last(0)]),
        0x800..0x1_0000 => text.extend([0xe0 | (number >> 12) as u8, last(6), last(0)]),
        _ => text.extend([0xf0 | (number >> 18) as u8, last(12), last(6), last(0)]),
    }
}

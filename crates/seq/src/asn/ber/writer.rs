//! Writes BER. Constructed elements have indefinite lengths, all others definite ones.

use super::{INDEFINITE, tag};

/// Replacement for a character that a VisibleString must not contain.
const REPLACEMENT: u8 = b'#';
/// First byte of a REAL whose decimal digits follow.
const DECIMAL: u8 = 0;

/// Appends BER elements to a buffer.
#[derive(Debug)]
pub struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    /// Creates a writer that appends to `bytes`.
    pub fn new(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes }
    }

    /// Returns the offset in the buffer of the next byte.
    pub fn position(&self) -> usize {
        self.bytes.len()
    }

    fn constructed(&mut self, tag: u8, contents: impl FnOnce(&mut Self)) {
        self.bytes.extend([tag, INDEFINITE]);
        contents(self);
        self.bytes.extend([0, 0]);
    }

    /// Writes a SEQUENCE or SEQUENCE OF. `contents` writes its elements.
    pub fn sequence(&mut self, contents: impl FnOnce(&mut Self)) {
        self.constructed(tag::SEQUENCE, contents);
    }

    /// Writes a SET or SET OF. `contents` writes its elements.
    pub fn set(&mut self, contents: impl FnOnce(&mut Self)) {
        self.constructed(tag::SET, contents);
    }

    /// Writes an element with the explicit context tag `number`. `contents` writes its value.
    pub fn tagged(&mut self, number: u8, contents: impl FnOnce(&mut Self)) {
        self.constructed(tag::field(number), contents);
    }

    /// Writes a BOOLEAN.
    pub fn boolean(&mut self, value: bool) {
        self.bytes.extend([tag::BOOLEAN, 1, u8::from(value)]);
    }

    /// Writes an ENUMERATED value by its number.
    pub fn enumerated(&mut self, number: u8) {
        self.bytes.extend([tag::ENUMERATED, 1, number]);
    }

    /// Writes a REAL with the decimal digits in `text`.
    pub fn real(&mut self, text: &str) {
        self.bytes.push(tag::REAL);
        self.length(1 + text.len());
        self.bytes.push(DECIMAL);
        self.bytes.extend(text.as_bytes());
    }

    /// Writes an INTEGER in the fewest possible bytes.
    pub fn integer(&mut self, value: i64) {
        let bytes = value.to_be_bytes();
        let surplus = |i: usize| {
            let sign = if bytes[i + 1] & 0x80 == 0 { 0 } else { 0xff };
            bytes[i] == sign
        };
        let start = (0..7).take_while(|&i| surplus(i)).count();
        self.bytes.extend([tag::INTEGER, (8 - start) as u8]);
        self.bytes.extend(&bytes[start..]);
    }

    /// Writes elements that are encoded already.
    pub fn elements(&mut self, elements: &[u8]) {
        self.bytes.extend_from_slice(elements);
    }

    /// Writes a VisibleString. Replaces each invalid character, and calls `bad` with its offset in
    /// the buffer and its value.
    pub fn string(&mut self, text: &[u8], mut bad: impl FnMut(usize, u8)) {
        self.bytes.push(tag::VISIBLE_STRING);
        self.length(text.len());
        for &byte in text {
            let visible = (b' '..=b'~').contains(&byte);
            if !visible {
                bad(self.bytes.len(), byte);
            }
            self.bytes.push(if visible { byte } else { REPLACEMENT });
        }
    }

    fn length(&mut self, length: usize) {
        if length < usize::from(INDEFINITE) {
            self.bytes.push(length as u8);
        } else {
            let bytes = (length as u64).to_be_bytes();
            let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
            self.bytes.push(INDEFINITE | (8 - zeros) as u8);
            self.bytes.extend(&bytes[zeros..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_as_few_bytes_as_hold_them() {
        let encode_integer = |value: i64| {
            let mut bytes = Vec::new();
            Writer::new(&mut bytes).integer(value);
            bytes
        };
        assert_eq!(encode_integer(0), [2, 1, 0]);
        assert_eq!(encode_integer(127), [2, 1, 127]);
        assert_eq!(encode_integer(128), [2, 2, 0, 128]);
        assert_eq!(encode_integer(999), [2, 2, 3, 0xe7]);
        assert_eq!(encode_integer(-1), [2, 1, 0xff]);
        assert_eq!(encode_integer(i64::MAX)[..2], [2, 8]);
    }

    #[test]
    fn long_strings_have_long_lengths_and_bad_characters_are_replaced() {
        let mut bytes = Vec::new();
        let mut bad = Vec::new();
        Writer::new(&mut bytes).string(&[b'a'; 300], |_, _| unreachable!());
        assert_eq!(bytes[..4], [0x1a, 0x82, 1, 44]);
        bytes.clear();
        Writer::new(&mut bytes).string(b"a\xe9\x02", |at, byte| bad.push((at, byte)));
        assert_eq!((&bytes[..], &bad[..]), (&b"\x1a\x03a##"[..], &[(3, 0xe9), (4, 2)][..]));
    }
}

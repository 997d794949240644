//! BER as NCBI's toolkit uses it: tags of one byte, explicit numbered tags of fields, definite and
//! indefinite lengths.

mod reader;
mod writer;

pub use self::reader::{BerError, BerReader};
pub use self::writer::Writer;

/// Tags of elements.
pub mod tag {
    /// `BOOLEAN`.
    pub const BOOLEAN: u8 = 0x01;
    /// `INTEGER`.
    pub const INTEGER: u8 = 0x02;
    /// `OCTET STRING`.
    pub const OCTETS: u8 = 0x04;
    /// `NULL`.
    pub const NULL: u8 = 0x05;
    /// `REAL`.
    pub const REAL: u8 = 0x09;
    /// `ENUMERATED`.
    pub const ENUMERATED: u8 = 0x0a;
    /// `UTF8String`, which later writers use for titles.
    pub const UTF8_STRING: u8 = 0x0c;
    /// `VisibleString`.
    pub const VISIBLE_STRING: u8 = 0x1a;
    /// `SEQUENCE` and `SEQUENCE OF`, constructed.
    pub const SEQUENCE: u8 = 0x30;
    /// `SET` and `SET OF`, constructed.
    pub const SET: u8 = 0x31;
    /// `StringStore`, a string type of the toolkit.
    pub const STRING_STORE: u8 = 0x41;
    /// The bits of a tag that contain its number. If all are set, the number follows in bytes of
    /// its own.
    pub const NUMBER_MASK: u8 = 0x1f;

    /// Returns the tag of the field with this number.
    ///
    /// # Panics
    /// If the number is 31 or more.
    pub const fn field(number: u8) -> u8 {
        assert!(number < NUMBER_MASK, "a tag of one byte has no such number");
        0xa0 | number
    }

    /// Returns the number of the field with this tag; `None` if the tag is not that of a field.
    pub const fn field_number(tag: u8) -> Option<u8> {
        let number = tag & NUMBER_MASK;
        if tag & !NUMBER_MASK == field(0) && number != NUMBER_MASK { Some(number) } else { None }
    }
}

/// First byte of an indefinite length. The element then ends with two zero bytes.
pub(super) const INDEFINITE: u8 = 0x80;

/// The length of an element as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// The element has this number of bytes.
    Definite(u64),
    /// The element ends with the next end-of-contents octets.
    Indefinite,
    /// The length takes more than eight bytes, beyond the size of any file.
    TooLarge,
}

/// Reads a length from the bytes that `next` returns.
///
/// # Errors
/// The errors that `next` returns.
pub(super) fn length<E>(mut next: impl FnMut() -> Result<u8, E>) -> Result<Length, E> {
    let first = next()?;
    match first {
        INDEFINITE => Ok(Length::Indefinite),
        ..INDEFINITE => Ok(Length::Definite(first.into())),
        0x81..=0x88 => {
            let mut length = 0u64;
            for _ in 0..first & !INDEFINITE {
                length = length << 8 | u64::from(next()?);
            }
            Ok(Length::Definite(length))
        }
        _ => Ok(Length::TooLarge),
    }
}

/// Decodes the contents of an `INTEGER`; `None` if they are empty or longer than 8 bytes.
pub(super) fn integer(contents: &[u8]) -> Option<i64> {
    let (&first, rest) = contents.split_first()?;
    let first = i64::from(first.cast_signed());
    let value = |rest: &[u8]| rest.iter().fold(first, |value, &byte| value << 8 | i64::from(byte));
    (rest.len() < 8).then(|| value(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_fields_have_numbers() {
        assert_eq!(tag::field_number(tag::field(7)), Some(7));
        assert_eq!(tag::field_number(0xbf), None);
        assert_eq!(tag::field_number(tag::SEQUENCE), None);
    }

    #[test]
    fn lengths_take_one_byte_or_many() {
        let read = |bytes: &[u8]| {
            let mut bytes = bytes.iter().copied();
            length(|| bytes.next().ok_or(()))
        };
        assert_eq!(read(&[0x7f]), Ok(Length::Definite(127)));
        assert_eq!(read(&[0x80]), Ok(Length::Indefinite));
        assert_eq!(read(&[0x82, 1, 44]), Ok(Length::Definite(300)));
        assert_eq!(
            read(&[0x88, 255, 255, 255, 255, 255, 255, 255, 255]),
            Ok(Length::Definite(u64::MAX))
        );
        assert_eq!(read(&[0x89, 1, 1, 1, 1, 1, 1, 1, 1, 1]), Ok(Length::TooLarge));
        assert_eq!(read(&[0x82, 1]), Err(()));
    }
}

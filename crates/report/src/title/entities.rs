//! Entities of HTML in titles.

/// Decodes the entities of HTML: the five of XML, and numbered ones (as UTF-8).
pub(super) fn decoded(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    // The first semicolon that is not before the byte at hand: not looked for at each ampersand.
    let (mut at, mut end) = (0, 0);
    while at < text.len() {
        if end < at || end == 0 {
            end = text[at..].iter().position(|&c| c == b';').map_or(text.len(), |far| at + far);
        }
        let name = text.get(at + 1..end).filter(|_| text[at] == b'&' && end < text.len());
        match name.and_then(entity_char) {
            Some(c) => {
                plain.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                at = end + 1;
            }
            None => {
                plain.push(text[at]);
                at += 1;
            }
        }
    }
    plain
}

fn entity_char(name: &[u8]) -> Option<char> {
    match name {
        b"lt" => Some('<'),
        b"gt" => Some('>'),
        b"amp" => Some('&'),
        b"quot" => Some('"'),
        b"apos" => Some('\''),
        [b'#', b'x', hex @ ..] => number(hex, 16),
        [b'#', digits @ ..] => number(digits, 10),
        _ => None,
    }
}

/// The character with this number.
fn number(digits: &[u8], radix: u32) -> Option<char> {
    // A name may go on to the end of a long title: it is not looked through for each ampersand.
    let is_digit = |&c: &u8| char::from(c).is_digit(radix);
    let digits = std::str::from_utf8(digits.iter().all(is_digit).then_some(digits)?).ok()?;
    u32::from_str_radix(digits, radix).ok().and_then(char::from_u32)
}

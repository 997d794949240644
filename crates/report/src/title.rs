//! Titles as `CDeflineGenerator` (create_defline.cpp) makes them for the description table, for
//! queries in XML and for subjects read from FASTA. The rules were learnt from BLAST+'s output.

use std::borrow::Cow;

use encoding_rs::WINDOWS_1252;
use fleetblast_seq::id::SeqId;

/// What proteins are called that have neither a title nor an identifier that makes one.
pub const PROTEIN: &[u8] = b"unnamed protein product";

/// The title shown for a protein: tidied if it has one, otherwise made from the identifiers.
pub fn generated(title: &[u8], ids: &[SeqId]) -> Vec<u8> {
    generated_or(title, ids, PROTEIN)
}

/// The same of any sequence, `untitled` if nothing makes a title.
pub fn generated_or(title: &[u8], ids: &[SeqId], untitled: &[u8]) -> Vec<u8> {
    if title.is_empty() {
        return from_ids(ids).unwrap_or_else(|| untitled.to_vec());
    }
    let end =
        title.iter().rposition(|c| !b".,;~ ".contains(c)).map_or(title.len(), |last| last + 1);
    let text = decoded(&in_utf8(&title[..end]));
    let text = without_prefixes(&text);
    let text = squeezed(text.trim_ascii_start());
    let end = text.iter().rposition(|&c| c != b' ').map_or(0, |last| last + 1);
    // The last byte of a character above ASCII counts as what may be cut off there.
    let is_cut = text[..end].last().is_some_and(|c| !c.is_ascii());
    text[..end - usize::from(is_cut)].to_vec()
}

/// A title in UTF-8: what is not is taken for Windows-1252, which has Latin-1 in it.
fn in_utf8(title: &[u8]) -> Cow<'_, [u8]> {
    if std::str::from_utf8(title).is_ok() {
        return Cow::Borrowed(title);
    }
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(title);
    Cow::Owned(text.into_owned().into_bytes())
}

/// The title of a sequence that has none.
fn from_ids(ids: &[SeqId]) -> Option<Vec<u8>> {
    for id in ids {
        match id {
            SeqId::Pdb { chain, .. } if !chain.is_empty() => {
                return Some([b"Chain ", &chain[..]].concat());
            }
            SeqId::Patent { country, number, sequence } => {
                let mut title = format!("Sequence {sequence} from Patent ").into_bytes();
                title.extend_from_slice(country);
                title.push(b' ');
                title.extend_from_slice(number);
                return Some(title);
            }
            _ => {}
        }
    }
    None
}

/// Removes the marks of kinds of records, one of each group at most, in this order.
fn without_prefixes(title: &[u8]) -> &[u8] {
    const GROUPS: [&[&[u8]]; 5] = [
        &[b"MAG:", b"MAG "],
        &[b"TPA_exp:", b"TPA_inf:", b"TPA_reasm:", b"TPA_asm:", b"TPA:"],
        &[b"TSA:"],
        &[b"UNVERIFIED_ORG:", b"UNVERIFIED_ASMBLY:", b"UNVERIFIED_CONTAM:"],
        &[b"UNVERIFIED:"],
    ];
    let mut rest = title;
    for group in GROUPS {
        let prefix = group.iter().find(|prefix| {
            rest.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        });
        if let Some(prefix) = prefix {
            rest = rest[prefix.len()..].trim_ascii_start();
        }
    }
    rest
}

/// Decodes the entities of HTML: the five of XML, and numbered ones (as UTF-8).
fn decoded(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let entity = (first == b'&').then(|| after.iter().position(|&c| c == b';')).flatten();
        match entity.and_then(|end| Some((end, entity_char(&after[..end])?))) {
            Some((end, c)) => {
                plain.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &after[end + 1..];
            }
            None => {
                plain.push(first);
                rest = after;
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
        [b'#', b'x', hex @ ..] => {
            u32::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok().and_then(char::from_u32)
        }
        [b'#', digits @ ..] => {
            std::str::from_utf8(digits).ok()?.parse().ok().and_then(char::from_u32)
        }
        _ => None,
    }
}

/// Squeezes blanks, and blanks about parentheses, commas and semicolons.
fn squeezed(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let Some((&first, rest)) = text.split_first() else { return out };
    // `held` is to be written next; `seen` is the character that the next one is judged by, none
    // after a blank that is settled.
    let (mut held, mut seen) = (first, Some(first));
    let mut rest = rest.iter().copied().peekable();
    while let Some(next) = rest.next() {
        match (seen, next) {
            (Some(b' '), b' ') | (Some(b'('), b' ') => {}
            (Some(b' '), b')') => (held, seen) = (b')', Some(b')')),
            (Some(b' '), b',' | b';') => out.push(next),
            (Some(b','), b',') => {
                out.push(held);
                held = b' ';
            }
            (Some(mark @ (b',' | b';')), b' ') => {
                out.push(held);
                held = b' ';
                while rest.next_if(|&c| c == b' ' || c == mark).is_some() {}
                seen = None;
            }
            _ => {
                out.push(held);
                (held, seen) = (next, Some(next));
            }
        }
    }
    out.push(held);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goldens: `Iteration_query-def` of `blastp -query q.fa -db any -outfmt 5`, by title.
    #[test]
    fn titles_are_tidied() {
        for (title, expected) in [
            ("a  b", "a b"),
            ("a , b", "a, b"),
            ("a ( b ) c", "a (b) c"),
            ("a,, b", "a,  b"),
            ("a ,, b", "a,, b"),
            ("a,,,b", "a,  b"),
            ("a; ; b", "a; b"),
            ("a;; b", "a;; b"),
            ("a; ,b", "a; ,b"),
            ("a, ;b", "a, ;b"),
            ("a ,;b", "a,; b"),
            ("x,,,,,,y", "x,     y"),
            ("x ,,y", "x,, y"),
            ("a ,; ,b", "a,;, b"),
            ("a ;; ;b", "a;;; b"),
            ("a, ,, b", "a, b"),
            ("a,, ,b", "a,  b"),
            ("a ,( b", "a, (b"),
            ("a; )b", "a; )b"),
            ("x ,)", "x,)"),
            ("x (  ( y ) )", "x ((y))"),
            ("a ( ,, b", "a (,  b"),
            ("end ,;.~", "end"),
            (".", "."),
            ("TPA: x", "x"),
            ("tpa: x", "x"),
            ("TPA: UNVERIFIED: x", "x"),
            ("UNVERIFIED: TPA: x", "TPA: x"),
            ("TPA: TPA: x", "TPA: x"),
            ("TSA: TPA: x", "TPA: x"),
            ("MAG TSA: x", "x"),
            ("UNVERIFIED_CONTAM: UNVERIFIED: x", "x"),
            ("PREDICTED: x", "PREDICTED: x"),
            ("TPA: .", ""),
            ("&lt; &amp; <b>", "< & <b>"),
            ("&lt;", "&lt"),
            ("&#65;x", "Ax"),
            ("a &lt b; c", "a &lt b; c"),
        ] {
            let text = String::from_utf8(generated(title.as_bytes(), &[])).unwrap();
            assert_eq!(text, expected, "{title:?}");
        }
    }

    /// Goldens: the title after `> ` of `blastp -query s.fa -subject s.fa`.
    #[test]
    fn titles_above_ascii_are_in_utf8_and_lose_their_last_byte() {
        for (title, expected) in [
            (&b"q \xc3\xa9"[..], &b"q \xc3"[..]),
            (b"q \xc3\xa9 ,", b"q \xc3"),
            (b"q \xe9 \xfc.", b"q \xc3\xa9 \xc3"),
            (b"q \xe9x", b"q \xc3\xa9x"),
            (b"q \x93x\x94 y", b"q \xe2\x80\x9cx\xe2\x80\x9d y"),
            (b"q \x85", b"q \xe2\x80"),
            (b"a \xc3\xa9\xe9x", b"a \xc3\x83\xc2\xa9\xc3\xa9x"),
            (b"q \xe9 &lt;x", b"q \xc3\xa9 <x"),
            (b"q &#233;x", b"q \xc3\xa9x"),
        ] {
            assert_eq!(generated(title, &[]), expected, "{title:?}");
        }
    }

    #[test]
    fn missing_titles_come_from_identifiers() {
        let pdb = SeqId::Pdb { mol: b"2XYZ".to_vec(), chain: b"B".to_vec() };
        let patent =
            SeqId::Patent { country: b"US".to_vec(), number: b"RE33188".to_vec(), sequence: 1 };
        assert_eq!(generated(b"", &[pdb]), b"Chain B");
        assert_eq!(generated(b"", &[patent]), b"Sequence 1 from Patent US RE33188");
        assert_eq!(generated(b"", &[]), b"unnamed protein product");
    }
}

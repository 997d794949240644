//! The queries of a strategy as FASTA, from which BLAST+ reads them again (`CFastaOstream`).

use fleetblast_report::archive_reader::StoredQuery;
use fleetblast_seq::alphabet;
use fleetblast_seq::nucleotide::blastna;

/// BLAST+'s title of a protein without one.
const UNNAMED: &[u8] = b"unnamed protein product";

/// Beginnings of titles that BLAST+ removes, without regard to case (`CDeflineGenerator`).
const REMOVED_PREFIXES: [&[u8]; 12] = [
    b"MAG ",
    b"MAG:",
    b"TPA:",
    b"TPA_exp:",
    b"TPA_inf:",
    b"TPA_reasm:",
    b"TPA_asm:",
    b"TSA:",
    b"UNVERIFIED_ORG:",
    b"UNVERIFIED_ASMBLY:",
    b"UNVERIFIED_CONTAM:",
    b"UNVERIFIED:",
];

/// Parts of titles that BLAST+ rewrites in titles, beside several blanks.
const REWRITTEN: [&[u8]; 9] = [b"( ", b" )", b" ,", b" ;", b",,", b", ,", b"; ;", b". [", b", ["];

/// Writes queries as FASTA. The error is the part that is not supported.
pub fn fasta(queries: &[StoredQuery], are_bases: bool) -> Result<Vec<u8>, &'static str> {
    let mut text = Vec::new();
    for query in queries {
        let [id] = &query.ids[..] else {
            return Err("a query of several identifiers");
        };
        let title = match (title(&query.title)?, are_bases) {
            (title, false) if title.is_empty() => UNNAMED.to_vec(),
            (title, _) => title,
        };
        text.extend([b">", &id.fasta()[..], b" ", &title, b"\n"].concat());
        let letters: &[u8] = if are_bases { &blastna::LETTERS[..] } else { &alphabet::LETTERS[..] };
        text.extend(query.letters.iter().map(|&code| letters[usize::from(code)]));
        text.push(b'\n');
    }
    Ok(text)
}

/// Returns a title as BLAST+ writes it: without punctuation at its end, each run of blanks as one.
fn title(stored: &[u8]) -> Result<Vec<u8>, &'static str> {
    let changed = Err("a title of a query that BLAST+ rewrites");
    let is_end = |byte: &&u8| !b".,;~ ".contains(byte);
    let Some(last) = stored.iter().rposition(|byte| is_end(&byte)) else {
        return if stored.is_empty() { Ok(Vec::new()) } else { changed };
    };
    let words = stored[..=last].split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let title = words.collect::<Vec<_>>().join(&b' ');
    let is_removed = |prefix: &&[u8]| {
        title.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    let has = |part: &&[u8]| title.windows(part.len()).any(|window| window == *part);
    let is_plain = title.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'&');
    if !is_plain || REMOVED_PREFIXES.iter().any(is_removed) || REWRITTEN.iter().any(has) {
        return changed;
    }
    Ok(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_tidied_or_refused() {
        let tidied = |text: &str| title(text.as_bytes()).map(|it| String::from_utf8(it).unwrap());
        assert_eq!(tidied("  two  words (a, b). "), Ok("two words (a, b)".to_owned()));
        assert_eq!(tidied(""), Ok(String::new()));
        for refused in ["...", "TPA: x", "a & b", "a , b", "a ( b", "a. [b]", "\u{e4}"] {
            assert!(tidied(refused).is_err(), "{refused}");
        }
    }
}

//! The queries of a strategy as FASTA, from which BLAST+ reads them again (`CFastaOstream`).

use fleetblast_report::archive_reader::ArchivedSequence;
use fleetblast_report::{UNNAMED_PROTEIN_TITLE, has_removed_prefix};
use fleetblast_seq::alphabet;
use fleetblast_seq::nucleotide::blastna;
use fleetblast_stats::release::Release;

/// Parts of titles that BLAST+ rewrites, besides runs of blanks. Strategies with such titles are
/// refused.
const REWRITTEN: [&[u8]; 9] = [b"( ", b" )", b" ,", b" ;", b",,", b", ,", b"; ;", b". [", b", ["];

/// Writes queries as FASTA. The error is the part that is not supported.
pub fn fasta(
    queries: &[ArchivedSequence],
    are_bases: bool,
    release: &Release,
) -> Result<Vec<u8>, &'static str> {
    let mut text = Vec::new();
    for query in queries {
        let [id] = &query.ids[..] else {
            return Err("a query of several identifiers");
        };
        let title = match (title(&query.title, release)?, are_bases) {
            (title, false) if title.is_empty() => UNNAMED_PROTEIN_TITLE.to_vec(),
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
fn title(stored: &[u8], release: &Release) -> Result<Vec<u8>, &'static str> {
    let changed = Err("a title of a query that BLAST+ rewrites");
    let is_end = |byte: &&u8| !b".,;~ ".contains(byte);
    let Some(last) = stored.iter().rposition(|byte| is_end(&byte)) else {
        return if stored.is_empty() { Ok(Vec::new()) } else { changed };
    };
    let words = stored[..=last].split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let title = words.collect::<Vec<_>>().join(&b' ');
    let has = |part: &&[u8]| title.windows(part.len()).any(|window| window == *part);
    let is_plain = title.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'&');
    if !is_plain || has_removed_prefix(&title, release) || REWRITTEN.iter().any(has) {
        return changed;
    }
    Ok(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_tidied_or_refused() {
        let tidy = |text: &str, release| {
            title(text.as_bytes(), release).map(|it| String::from_utf8(it).unwrap())
        };
        let tidied = |text: &str| tidy(text, &Release::V2_12_0);
        assert_eq!(tidied("  two  words (a, b). "), Ok("two words (a, b)".to_owned()));
        assert_eq!(tidied(""), Ok(String::new()));
        for refused in ["...", "TPA: x", "a & b", "a , b", "a ( b", "a. [b]", "\u{e4}"] {
            assert!(tidied(refused).is_err(), "{refused}");
        }
        for later in ["MULTISPECIES: x", "TLS: x"] {
            assert_eq!(tidied(later), Ok(later.to_owned()));
            assert!(tidy(later, &Release::V2_16_0).is_err(), "{later}");
        }
    }
}

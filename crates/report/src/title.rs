//! Generates titles of sequences as `CDeflineGenerator` (create_defline.cpp) does. The description
//! table, queries in XML, subjects read from FASTA and `blastdbcmd -long_seqids` show them.
//!
//! BLAST+ knows only [`TitleFacts`] about a sequence, so the generator's rules for molecules,
//! features, keywords and kinds of organisms never apply.

mod entities;
mod organism;

use std::borrow::Cow;

use encoding_rs::WINDOWS_1252;
use fleetblast_seq::id::{SeqId, TextKind};
use fleetblast_stats::release::Release;
use memchr::memmem;

/// Title of a protein that has neither a title nor an identifier from which a title can be made.
pub const UNNAMED_PROTEIN_TITLE: &[u8] = b"unnamed protein product";
/// Bytes that [`trimmed`] removes at the end of a stored title.
const TRAILING: &[u8] = b".,;~ ";
/// Prefix of titles of third-party annotation.
const THIRD_PARTY: &[u8] = b"TPA: ";
/// Prefixes of RefSeq accessions of nucleotides. A protein with such an accession does not get the
/// fallback title of proteins.
const CHROMOSOMES_AND_NONCODING: [&[u8]; 3] = [b"AC_", b"NC_", b"NR_"];
const MESSENGERS: [&[u8]; 2] = [b"NM_", b"XM_"];

/// The properties of a sequence that determine its generated title.
#[derive(Clone, Copy, Debug)]
pub struct TitleFacts<'a> {
    /// The stored title, empty if there is none.
    pub title: &'a [u8],
    /// The identifiers.
    pub ids: &'a [SeqId],
    /// Whether the sequence is a protein.
    pub is_protein: bool,
    /// Title of a protein for which neither the stored title nor the identifiers give one.
    pub fallback_title: &'a [u8],
    /// Scientific name of the sequence's taxon: `None` without a taxid, empty for a taxon without a
    /// name.
    pub organism: Option<&'a [u8]>,
    /// The release whose generator makes the title.
    pub release: &'a Release,
    /// Whether the title is that of the table of descriptions.
    pub is_in_table: bool,
}

impl TitleFacts<'_> {
    /// Generates the title. It is the stored title, tidied, or else one made from identifiers and
    /// organism.
    pub fn generate(&self) -> Vec<u8> {
        let stored = trim_marks(self.title, TRAILING);
        let mut title = in_utf8(stored).into_owned();
        if let Some(organism) = self.organism.filter(|_| self.is_renewed() && !title.is_empty()) {
            title = organism::renew_organism(&title, organism);
        }
        if title.is_empty() {
            title = self.generate_missing();
        }
        let text = match self.keeps_affixes() {
            true => entities::decode_entities(&title),
            false => entities::decode_entities(without_prefixes(&title, self.release)),
        };
        let has_prefix = self.is_third_party() && !self.keeps_affixes();
        let prefix = if has_prefix { THIRD_PARTY } else { b"" };
        let text = [prefix, trim_marks(&text, b",;~ ")].concat();
        let mut text = squeeze_blanks(&text);
        if self.is_protein {
            text = without_marks_before_brackets(text);
        } else if stored.is_empty() && !self.ids.iter().any(names_itself) {
            text.iter_mut().take(1).for_each(|first| first.make_ascii_uppercase());
        }
        text
    }

    /// Whether the organism that a stored title names at its end is replaced by the taxon's name.
    fn is_renewed(&self) -> bool {
        self.is_protein && !self.keeps_affixes()
    }

    /// Whether a stored title keeps its prefixes and the organism at its end.
    fn keeps_affixes(&self) -> bool {
        self.is_in_table && self.release.keeps_titles
    }

    /// Makes a title for a sequence that has none.
    fn generate_missing(&self) -> Vec<u8> {
        if let Some(title) = from_ids(self.ids) {
            return title;
        }
        let organism = self.organism.unwrap_or_default();
        let has = |prefixes: &[&[u8]]| self.ids.iter().any(|id| is_accession_of(id, prefixes));
        // An mRNA accession counts as a nucleotide in reports only, which give a fallback title.
        let is_nucleotide =
            has(&CHROMOSOMES_AND_NONCODING) || has(&MESSENGERS) && !self.fallback_title.is_empty();
        let title = match self.is_protein && !is_nucleotide {
            true => organism::with_organism(self.fallback_title, organism),
            false => organism.to_vec(),
        };
        title.trim_ascii().to_vec()
    }

    fn is_third_party(&self) -> bool {
        use TextKind::{TpaDdbj, TpaEmbl, TpaGenBank};
        let is =
            |id: &SeqId| matches!(id, SeqId::Text { kind: TpaGenBank | TpaEmbl | TpaDdbj, .. });
        self.ids.iter().any(is)
    }
}

/// Removes trailing bytes that are in `marks`. A text that consists of such bytes stays as it is.
fn trim_marks<'a>(text: &'a [u8], marks: &[u8]) -> &'a [u8] {
    let end = text.iter().rposition(|c| !marks.contains(c)).map_or(text.len(), |last| last + 1);
    &text[..end]
}

/// Removes blanks at the start of a text.
fn without_blanks(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|&&c| c == b' ').count()..]
}

/// Whether the first letter of a generated title keeps its case because the sequence has this
/// identifier.
fn names_itself(id: &SeqId) -> bool {
    matches!(id, SeqId::Pdb { .. } | SeqId::Patent { .. })
}

/// Whether the identifier is an accession that consists of one of these prefixes and six digits.
/// After a prefix of messenger RNA it may have nine digits.
fn is_accession_of(id: &SeqId, prefixes: &[&[u8]]) -> bool {
    let SeqId::Text { kind, accession, .. } = id else { return false };
    use TextKind::{Gpipe, NamedAnnotTrack, Pir, Prf, SwissProt};
    let others = [Gpipe, NamedAnnotTrack, Pir, Prf, SwissProt];
    !others.contains(kind)
        && prefixes.iter().any(|prefix| {
            let start = accession.get(..prefix.len());
            let digits = &accession[prefix.len().min(accession.len())..];
            start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
                && digits.iter().all(u8::is_ascii_digit)
                && (digits.len() == 6 || digits.len() == 9 && MESSENGERS.contains(prefix))
        })
}

/// Removes a period or comma before a blank and a bracket, as BLAST+ does for proteins.
fn without_marks_before_brackets(mut text: Vec<u8>) -> Vec<u8> {
    for mark in [b". [", b", ["] {
        let mut found = memmem::find_iter(&text, mark).peekable();
        if found.peek().is_none() {
            continue;
        }
        let (mut kept, mut end) = (Vec::with_capacity(text.len()), 0);
        for at in found {
            kept.extend_from_slice(&text[end..at]);
            end = at + 1;
        }
        kept.extend_from_slice(&text[end..]);
        text = kept;
    }
    text
}

/// Converts a title to UTF-8. A title that is not UTF-8 is read as Windows-1252, a superset of
/// Latin-1.
fn in_utf8(title: &[u8]) -> Cow<'_, [u8]> {
    if std::str::from_utf8(title).is_ok() {
        return Cow::Borrowed(title);
    }
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(title);
    Cow::Owned(text.into_owned().into_bytes())
}

/// Makes a title from a PDB or patent identifier, if there is one.
fn from_ids(ids: &[SeqId]) -> Option<Vec<u8>> {
    let last_chain = ids.iter().rev().find_map(|id| match id {
        SeqId::Pdb { chain, .. } => Some(chain),
        _ => None,
    });
    // A PDB entry without a chain gets no title from identifiers, even if it has a patent
    // identifier.
    if let Some(chain) = last_chain {
        return (!chain.is_empty()).then(|| [b"Chain ", &chain[..]].concat());
    }
    ids.iter().rev().find_map(|id| match id {
        SeqId::Patent { country, number, sequence } => {
            let start = format!("Sequence {sequence} from Patent ").into_bytes();
            Some([&start, &country[..], b" ", &number[..]].concat())
        }
        _ => None,
    })
}

/// Returns the prefixes of titles that name kinds of database records and that generated titles
/// lack, in the order in which BLAST+ removes them (`CDeflineGenerator`).
fn removed_prefixes(release: &Release) -> impl Iterator<Item = &'static [u8]> {
    const LATER: [&[u8]; 2] = [b"MULTISPECIES:", b"TLS:"];
    const PREFIXES: [&[u8]; 14] = [
        b"MAG ",
        b"MAG:",
        LATER[0],
        LATER[1],
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
    let has_later = release.removes_later_prefixes;
    PREFIXES.into_iter().filter(move |prefix| has_later || !LATER.contains(prefix))
}

/// Returns the rest of a title after a prefix, in upper or lower case; `None` without it.
fn after_prefix<'t>(title: &'t [u8], prefix: &[u8]) -> Option<&'t [u8]> {
    let (start, rest) = title.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Whether a title begins with a prefix that BLAST+ removes when it generates titles.
pub fn has_removed_prefix(title: &[u8], release: &Release) -> bool {
    removed_prefixes(release).any(|prefix| after_prefix(title, prefix).is_some())
}

/// Removes prefixes such as `TPA:` from a title. Tries each prefix once.
fn without_prefixes<'t>(title: &'t [u8], release: &Release) -> &'t [u8] {
    let mut rest = title;
    for prefix in removed_prefixes(release) {
        rest = after_prefix(rest, prefix).map_or(rest, without_blanks);
    }
    without_blanks(rest)
}

/// Replaces runs of blanks by one blank, and removes blanks inside parentheses and before commas
/// and semicolons (`x_CleanAndCompress`). Drops a last byte above ASCII.
fn squeeze_blanks(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let end = text.iter().rposition(|&c| c != b' ').map_or(0, |last| last + 1);
    let Some((&first, rest)) = without_blanks(&text[..end]).split_first() else { return out };
    // `held` is the byte to write next; a blank or non-ASCII byte at the end is dropped. `seen`
    // decides how the next byte is handled.
    let (mut held, mut seen) = (first, first);
    let mut rest = rest.iter().copied().peekable();
    while let Some(next) = rest.next() {
        match (seen, next) {
            (b' ', b' ') | (b'(', b' ') => {}
            (b' ', b')') => (held, seen) = (b')', b')'),
            (b' ', b',' | b';') => out.push(next),
            (b',', b',') => {
                out.push(held);
                (held, seen) = (b' ', b',');
            }
            (mark @ (b',' | b';'), b' ') => {
                out.extend([held, b' ']);
                while rest.next_if(|&c| c == b' ' || c == mark).is_some() {}
                let Some(next) = rest.next() else { return out };
                (held, seen) = (next, next);
            }
            _ => {
                out.push(held);
                (held, seen) = (next, next);
            }
        }
    }
    if held.is_ascii() && held != b' ' {
        out.push(held);
    }
    out
}

#[cfg(test)]
mod tests {
    use fleetblast_oracle::within_a_minute;

    use super::*;

    fn generate_title(title: &[u8], ids: &[SeqId]) -> Vec<u8> {
        let facts = TitleFacts {
            title,
            ids,
            is_protein: true,
            fallback_title: UNNAMED_PROTEIN_TITLE,
            organism: None,
            release: &Release::V2_12_0,
            is_in_table: false,
        };
        facts.generate()
    }

    #[test]
    fn titles_of_megabytes_are_made_in_time_that_grows_with_their_length() {
        // If each mark scanned or moved the rest of the title, this would take minutes.
        for (mark, expected) in [("&", "&"), ("&#+1;x", "&#+1;x"), ("a, [", "a ["), ("a. [", "a [")]
        {
            let made = within_a_minute(|| generate_title(mark.repeat(1_000_000).as_bytes(), &[]));
            assert!(made == expected.repeat(1_000_000).as_bytes(), "{mark}");
        }
    }

    /// Expected values: `Iteration_query-def` of `blastp -query q.fa -db any -outfmt 5`, by title.
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
            ("MAG MAG: x", "x"),
            ("MAG: MAG x", "MAG x"),
            ("TPA: TPA_asm: x", "x"),
            ("TPA_asm: TPA_exp: x", "TPA_exp: x"),
            ("a. [b], [c]", "a [b] [c]"),
            ("a.. [b]", "a. [b]"),
            (",,", ","),
            ("UNVERIFIED_CONTAM: UNVERIFIED: x", "x"),
            ("PREDICTED: x", "PREDICTED: x"),
            ("TPA: .", ""),
            ("&lt; &amp; <b>", "< & <b>"),
            ("&lt;", "&lt"),
            ("&#65;x", "Ax"),
            ("a &lt b; c", "a &lt b; c"),
            ("&#X41;e", "Ae"),
            ("&#65a;x &#;x &LT;x", "&#65a;x &#;x &LT;x"),
            ("&#x100000041;x &#4294967361;x", "Ax Ax"),
            ("&#000000000000065;x &#x000000000000041;x", "Ax Ax"),
            ("&#0000000000000065;x", "&#0000000000000065;x"),
            ("&#x0000000000000041;x", "&#x0000000000000041;x"),
            ("a&&lt;&#6&#65;b", "a&<&#6Ab"),
            ("&eacute;x &Hat;x &thetasym;x", "\u{e9}x ^x \u{3d1}x"),
            ("&lang;x &hellip;x &bigcirc;x", "\u{2329}x \u{2026}x &bigcirc;x"),
        ] {
            let text = String::from_utf8(generate_title(title.as_bytes(), &[])).unwrap();
            assert_eq!(text, expected, "{title:?}");
        }
    }

    /// Expected values: the title after `> ` of `blastp -query s.fa -subject s.fa`.
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
            (b"a&#0;c", b"a\0c"),
            (b"a&#xd800;b", b"a\xed\xa0\x80b"),
            (b"a&#x110000;z", b"a\xf4\x90\x80\x80z"),
            (b"a&#xffffffff;z", b"a\xff\xbf\xbf\xbfz"),
        ] {
            assert_eq!(generate_title(title, &[]), expected, "{title:?}");
        }
    }

    #[test]
    fn missing_titles_come_from_identifiers() {
        let pdb = SeqId::Pdb { mol: b"2XYZ".to_vec(), chain: b"B".to_vec() };
        let patent =
            SeqId::Patent { country: b"US".to_vec(), number: b"RE33188".to_vec(), sequence: 1 };
        assert_eq!(generate_title(b"", &[pdb]), b"Chain B");
        assert_eq!(generate_title(b"", &[patent]), b"Sequence 1 from Patent US RE33188");
        assert_eq!(generate_title(b"", &[]), b"unnamed protein product");
    }

    fn id(text: &str) -> Vec<SeqId> {
        fleetblast_seq::id::parse_fasta_ids(text.as_bytes()).unwrap()
    }

    /// Expected values: the description table of `blastp`, with and without taxids and a taxonomy
    /// database.
    #[test]
    fn third_parties_and_organisms_show_in_titles_of_proteins() {
        let human: Option<&[u8]> = Some(b"Homo sapiens");
        for (name, title, organism, expected) in [
            ("tpg|DAA00001.1|", "TPA_inf: x", None, "TPA: x"),
            ("tpe|CAD00002.1|", "", None, "TPA: unnamed protein product"),
            ("tpd|FAA00003.1|", "TPA:", None, "TPA:"),
            ("lcl|a", "x, partial [Homo sapiens]", None, "x, partial [Homo sapiens]"),
            ("lcl|a", "x, partial [Homo sapiens]", human, "x [Homo sapiens]"),
            (
                "lcl|a",
                "x (chloroplast), partial [homo SAPIENS].",
                human,
                "x (chloroplast) [Homo sapiens]",
            ),
            ("lcl|a", "x, partial (chloroplast) [Homo sapiens]", human, "x [Homo sapiens]"),
            ("lcl|a", "a longer title [ ]", human, "a longer title [Homo sapiens]"),
            ("lcl|a", "a long title [ ]", human, "a long title [ ]"),
            ("lcl|a", "xy [ ]", Some(b""), "xy"),
            ("lcl|a", "xy [ ]", None, "xy [ ]"),
            ("lcl|a", "a [Homo sapiens]", human, "a [Homo sapiens]"),
            ("lcl|a", "", human, "unnamed protein product [Homo sapiens]"),
            ("ref|NC_000001.1|", "", human, "Homo sapiens"),
            ("ref|NM_000001.1|", "", human, "Homo sapiens"),
            ("ref|NP_000001.1|", "", human, "unnamed protein product [Homo sapiens]"),
        ] {
            let ids = id(name);
            let title = title.as_bytes();
            let facts = TitleFacts {
                title,
                ids: &ids,
                is_protein: true,
                fallback_title: UNNAMED_PROTEIN_TITLE,
                organism,
                release: &Release::V2_12_0,
                is_in_table: false,
            };
            let made = String::from_utf8(facts.generate()).unwrap();
            assert_eq!(made, expected, "{name} {title:?} {organism:?}");
        }
    }

    /// Expected values: the description table of `blastn`.
    #[test]
    fn bases_without_a_title_are_named_after_their_organism() {
        for (name, title, organism, expected) in [
            ("tpg|BK000001.1|", "TPA_asm: x", None, "TPA: x"),
            (
                "lcl|a",
                "x, partial [Homo sapiens]",
                Some("Homo sapiens"),
                "x, partial [Homo sapiens]",
            ),
            ("lcl|a", "", Some("uncultured bacterium"), "Uncultured bacterium"),
            ("lcl|a", "lower", Some("uncultured bacterium"), "lower"),
            ("pdb|1ABC|a", "", Some("Homo sapiens"), "Chain a"),
            ("lcl|a", "", None, ""),
        ] {
            let ids = id(name);
            let title = title.as_bytes();
            let organism = organism.map(str::as_bytes);
            let facts = TitleFacts {
                title,
                ids: &ids,
                is_protein: false,
                fallback_title: b"",
                organism,
                release: &Release::V2_12_0,
                is_in_table: false,
            };
            let made = String::from_utf8(facts.generate()).unwrap();
            assert_eq!(made, expected, "{name} {title:?} {organism:?}");
        }
    }
}

//! Parses the definition lines of FASTA.

use std::borrow::Cow;

use super::error::{FastaErrorKind, Warning};
use super::{IdEnd, Options, Rules};
use crate::convert::{is_space, trim_spaces};
use crate::id::accession::{AccessionType, identify_accession};
use crate::id::{
    MAX_LOCAL, Molecule, ObjectId, SeqId, parse_fasta_ids, parse_fasta_ids_with_skipped,
};

/// Maximal length of an accession.
const MAX_ACCESSION: usize = 30;
/// Minimal number of letters at the end of a title or identifier that look like a misplaced
/// sequence.
const SUSPICIOUS_LETTERS: usize = 50;
/// Minimal number of bases at the end of a nucleotide sequence's title that look like a misplaced
/// sequence.
const SUSPICIOUS_BASES: usize = 20;
/// Maximal number of bases at the end of a nucleotide sequence's identifier.
const MAX_BASES: usize = 25;
/// Number of characters within which BLAST+ searches for the `=` of `[key=value]`.
const MAX_KEY: usize = 30;

/// The content of a definition line.
#[derive(Debug, Default)]
pub(super) struct ParsedDefline {
    pub ids: Vec<SeqId>,
    /// The identifiers of a first word that ends with a range, such as `x:1-10`.
    pub ranged_ids: Vec<SeqId>,
    pub title: Vec<u8>,
    /// A warning if the title looks like a misplaced sequence.
    pub suspicious: Option<Warning>,
}

/// Returns the text after `>` if the line starts a record. A line with `>?` is a gap in a sequence
/// and does not start a record. `>?_` means `>`.
pub(super) fn defline_text(line: &[u8]) -> Option<&[u8]> {
    let text = line.strip_prefix(b">")?;
    let text = text.strip_prefix(b"?_").unwrap_or(text);
    (!text.starts_with(b"?")).then_some(text)
}

/// Parses the text of a definition line after `>`.
///
/// # Errors
/// [`FastaErrorKind`] if BLAST+ refuses the text. Adds BLAST+'s warnings to `warnings` in any case.
pub(super) fn parse(
    text: &[u8],
    line: u64,
    options: Options,
    warnings: &mut Vec<Warning>,
) -> Result<ParsedDefline, FastaErrorKind> {
    let Some(start) = text.iter().position(|&c| !is_space(c)) else {
        return match options {
            Options { parse_deflines: true, rules: Rules::Database(_), .. } => {
                Err(FastaErrorKind::BlankDefline)
            }
            _ => Ok(ParsedDefline::default()),
        };
    };
    if !options.parse_deflines {
        let (title, suspicious) = title(&text[start..], options.rules);
        return Ok(ParsedDefline { title, suspicious, ..ParsedDefline::default() });
    }
    let end = match options.id_end {
        IdEnd::Bracket => word_end(text, start),
        IdEnd::NonAscii => {
            let end = text[start..].iter().position(|&c| c <= b' ' || !c.is_ascii());
            end.map_or(text.len(), |length| start + length)
        }
    };
    let word = &text[start..end];
    let range = range_length(word);
    let word = &word[..word.len() - range];
    if trim_spaces(word).is_empty() {
        return Err(FastaErrorKind::NoIdentifier);
    }
    let ids = identifiers(word, line, options, warnings)?;
    let (ids, ranged_ids) = if range > 0 { (Vec::new(), ids) } else { (ids, Vec::new()) };
    let rest = &text[end..];
    let blanks = rest.iter().take_while(|&&c| is_space(c)).count();
    let (title, suspicious) = title(&rest[blanks..], options.rules);
    Ok(ParsedDefline { ids, ranged_ids, title, suspicious })
}

/// Returns the title, and a warning if it ends like a sequence.
///
/// The title ends before the first control character after its first character. It ends like a
/// sequence if it has more than 50 characters and the last 50 are letters. For nucleotides, it ends
/// like a sequence if it has more than 20 characters and the last 20 are bases.
fn title(text: &[u8], rules: Rules) -> (Vec<u8>, Option<Warning>) {
    let control = text.iter().skip(1).position(|&c| c < b' ');
    let title = &text[..control.map_or(text.len(), |n| n + 1)];
    let ends_with = |letters: usize, found: usize| title.len() > letters && found >= letters;
    let warning = match rules.molecule() {
        Molecule::Nucleotide => {
            let bases = title.iter().rev().take_while(|c| b"ACGTacgt".contains(c)).count();
            ends_with(SUSPICIOUS_BASES, bases).then_some(Warning::BasesInTitle)
        }
        Molecule::Protein => {
            ends_with(SUSPICIOUS_LETTERS, final_letters(title)).then_some(Warning::SequenceInTitle)
        }
    };
    (trim_spaces(title).to_vec(), warning)
}

/// Returns the end of the first word. A blank, a control character or the bracket of `[key=value]`
/// ends it.
fn word_end(text: &[u8], start: usize) -> usize {
    let mut end = start;
    while end < text.len() {
        match text[end] {
            0..=b' ' => return end,
            b'[' => match bracket(text, end) {
                Ok(next) => end = next + 1,
                Err(word_end) => return word_end,
            },
            _ => end += 1,
        }
    }
    // The search for an equals sign may have passed the end of the text.
    end.min(text.len())
}

/// Looks for `key=` after a bracket. Returns the end of the word as `Err`, or the last examined
/// position as `Ok` if the word continues.
fn bracket(text: &[u8], open: usize) -> Result<usize, usize> {
    // BLAST+ also counts the `>`, which is not in `text`.
    let limit = text.len().min(MAX_KEY).saturating_sub(1);
    let mut blank = None;
    let mut pos = open + 1;
    while pos < limit {
        match text[pos] {
            b'=' => break,
            0..=b' ' => blank = blank.or(Some(pos)),
            c if c.is_ascii_alphanumeric() || c == b'-' || c == b'_' => {}
            _ => break,
        }
        pos += 1;
    }
    if text.get(pos) == Some(&b'=') { Err(open) } else { blank.map_or(Ok(pos), Err) }
}

/// Returns the length of a range at the end of a word, such as `:1-10` or `:c10-1`; 0 if there is
/// none.
fn range_length(word: &[u8]) -> usize {
    let (mut from, mut to, mut factor) = (0u32, 0u32, 1u32);
    let (mut on_from, mut digits, mut reverse) = (false, false, false);
    let mut pos = word.len().saturating_sub(1);
    while pos > 0 {
        match word[pos] {
            c @ b'0'..=b'9' => {
                let number = if on_from { &mut from } else { &mut to };
                *number = number.wrapping_add(u32::from(c - b'0').wrapping_mul(factor));
                factor = factor.wrapping_mul(10);
                digits = true;
            }
            b'-' if !on_from && digits => (on_from, digits, factor) = (true, false, 1),
            b':' if on_from && digits => break,
            b'c' if on_from && digits && word[pos - 1] == b':' => {
                pos -= 1;
                reverse = true;
                break;
            }
            _ => return 0,
        }
        pos -= 1;
    }
    let ordered = if reverse { to <= from } else { from <= to };
    if ordered && word.get(pos) == Some(&b':') { word.len() - pos } else { 0 }
}

/// Parses and checks the identifiers of a definition line's first word.
fn identifiers(
    word: &[u8],
    line: u64,
    options: Options,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<SeqId>, FastaErrorKind> {
    let mut word = Cow::Borrowed(word);
    if word.contains(&b',') && !word.contains(&b'|') {
        warnings.push(Warning::CommaInId { line });
        for c in word.to_mut() {
            if *c == b',' {
                *c = b'_';
            }
        }
    }
    let mut passed = Vec::new();
    let ids = parse_fasta_ids_with_skipped(&word, &mut passed);
    warnings.extend(passed.into_iter().map(Warning::SkippedIdPart));
    let ids = ids?;
    if let Some(last) = ids.last() {
        warnings.extend(misplaced_sequence(&last.accession(), options.rules)?);
    }
    ids.iter().try_for_each(|id| check(id, options.checks_whole_ids))?;
    Ok(ids)
}

/// Returns BLAST+'s warning or error for an identifier that ends like a sequence
/// (`CFastaIdValidate`).
fn misplaced_sequence(id: &[u8], rules: Rules) -> Result<Option<Warning>, FastaErrorKind> {
    if rules.molecule() == Molecule::Nucleotide {
        let bases = id.iter().rev().take_while(|c| b"NACGTacgt".contains(c)).count();
        if bases > MAX_BASES {
            return Err(FastaErrorKind::BasesInId { bases });
        }
        return Ok((bases > SUSPICIOUS_BASES).then_some(Warning::BasesInId { bases }));
    }
    let letters = final_letters(id);
    Ok((letters > SUSPICIOUS_LETTERS).then_some(Warning::SequenceInId { letters }))
}

fn final_letters(text: &[u8]) -> usize {
    text.iter().rev().take_while(|c| c.is_ascii_alphabetic()).count()
}

/// Checks the length of an identifier and the characters of a local identifier: all of them if
/// `checks_whole` is true, else the first one (`seqid_validate.cpp`).
fn check(id: &SeqId, checks_whole: bool) -> Result<(), FastaErrorKind> {
    let (what, text, limit) = match id {
        SeqId::Local(ObjectId::Text(text)) => {
            let is_valid = |c: &u8| (33..=127).contains(c) && !b" >[]|\"".contains(c);
            let checked = if checks_whole { text.len() } else { 1 };
            if text.is_empty() || !text.iter().take(checked).all(is_valid) {
                let id = String::from_utf8_lossy(text).into_owned();
                return Err(FastaErrorKind::InvalidLocal(id));
            }
            ("local id", text, MAX_LOCAL)
        }
        SeqId::General { tag: ObjectId::Text(text), .. } => ("general id string", text, MAX_LOCAL),
        SeqId::Text { accession, .. } => ("accession", accession, MAX_ACCESSION),
        _ => return Ok(()),
    };
    if text.len() > limit {
        return Err(FastaErrorKind::LongIdentifier { what, length: text.len(), limit });
    }
    Ok(())
}

/// Returns whether BLAST+ would treat the first line of a record as an identifier to fetch: digits
/// only, an accession of known shape, or a known tag.
pub(super) fn is_identifier(line: &[u8]) -> bool {
    let line = trim_spaces(line);
    if !line.first().is_some_and(u8::is_ascii_alphanumeric) || line.contains(&b' ') {
        return false;
    }
    let number = line.iter().all(u8::is_ascii_digit) && line[0] != b'0';
    let tagged = line.contains(&b'|')
        && parse_fasta_ids(line).is_ok_and(|ids| !matches!(ids[..], [SeqId::Local(_)]));
    number || tagged || identify_accession(line) != AccessionType::Unknown
}

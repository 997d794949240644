//! Rewrites the organism at the end of a protein's title (`x_AdjustProteinTitleSuffix`).

use super::{TRAILING, trim_marks};

/// Names of organelles, which titles have in parentheses.
const ORGANELLES: [&[u8]; 15] = [
    b"chloroplast",
    b"chromoplast",
    b"kinetoplast",
    b"mitochondrion",
    b"plastid",
    b"macronuclear",
    b"plasmid",
    b"cyanelle",
    b"nucleomorph",
    b"apicoplast",
    b"leucoplast",
    b"protoplast",
    b"endogenous virus",
    b"hydrogenosome",
    b"chromatophore",
];
const PARTIAL: &[u8] = b", partial";
/// The organism for which BLAST+ looks if the title does not end with the known one: genus, blank
/// and species. Genus and species are unknown here, so only the blank is left.
const BINOMIAL: &[u8] = b" ";

/// Appends the organism in brackets, unless `organism` is empty.
pub(super) fn with_organism(title: &[u8], organism: &[u8]) -> Vec<u8> {
    match organism {
        b"" => title.to_vec(),
        organism => [title, b" [", organism, b"]"].concat(),
    }
}

/// Replaces the bracketed organism at the end of a title by `organism`. Also removes an organelle
/// and `, partial` before it, because databases do not store these facts. Only trims a title that
/// ends otherwise.
pub(super) fn renew_organism(title: &[u8], organism: &[u8]) -> Vec<u8> {
    let title = trim_marks(title, TRAILING);
    // BLAST+ looks for a bracketed organism only in a title that is long enough to hold it.
    if title.len() <= organism.len() + 4 {
        return title.to_vec();
    }
    let found = find_bracketed(title, organism).or_else(|| find_bracketed(title, BINOMIAL));
    let Some(start) = found else { return title.to_vec() };
    let title = trim_marks(&title[..start], TRAILING);
    let title = trim_marks(without_organelle(title), TRAILING);
    let title = match title.strip_suffix(PARTIAL) {
        Some(whole) => trim_marks(whole, TRAILING),
        None => title,
    };
    with_organism(title, organism)
}

/// Returns the position of `[` if the title ends with `organism` in brackets, in capitals or small
/// letters. Returns `None` if it ends otherwise.
fn find_bracketed(title: &[u8], organism: &[u8]) -> Option<usize> {
    let start = title.len().checked_sub(organism.len() + 3).filter(|&start| start > 1)?;
    let is_last = title
        .windows(organism.len().max(1))
        .rposition(|window| window.eq_ignore_ascii_case(organism));
    let is_there = title[start..].starts_with(b" [") && title.ends_with(b"]");
    (is_there && is_last == Some(start + 2)).then_some(start + 1)
}

/// Removes an organelle in parentheses at the end.
fn without_organelle(title: &[u8]) -> &[u8] {
    let Some(inner) = title.strip_suffix(b")").filter(|_| title.len() > 2) else { return title };
    let is_organelle = ORGANELLES
        .iter()
        .any(|name| inner.strip_suffix(*name).is_some_and(|before| before.ends_with(b"(")));
    match inner.iter().rposition(|&c| c == b'(') {
        Some(start) if is_organelle => &title[..start],
        _ => title,
    }
}

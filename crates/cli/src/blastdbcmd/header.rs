//! Definition lines: selection by `-target_only`, and their form in FASTA.

use fleetblast_db::Defline;
use fleetblast_seq::convert::parse_integer;
use fleetblast_seq::id::{ObjectId, SeqId, choose_text_id, parse_fasta_ids};

use super::Stop;

/// Separates merged definition lines in the title of a sequence.
const SEPARATOR: &[u8] = b" >";

/// The identifiers that `-target_only` searches for.
pub(super) struct Target {
    ids: Vec<SeqId>,
}

impl Target {
    /// Parses a target for FASTA output. A number is a GI or a local identifier; other text may
    /// also be a local identifier (`CSeqDBVol::GetBioseq`, seqdbvol.cpp).
    pub(super) fn in_fasta(text: &[u8]) -> Self {
        let first = match number(text) {
            Some(gi) => Some(SeqId::Gi(gi)),
            None => first_id(text),
        };
        let local =
            first.as_ref().map(|id| SeqId::Local(ObjectId::from_text(&id.accession_version())));
        Self { ids: first.into_iter().chain(local).collect() }
    }

    /// Parses a target for lines of fields: an identifier, or a GI if it is a number
    /// (`CBlastDeflineUtil`, blastdb_dataextract.cpp).
    pub(super) fn in_fields(text: &[u8]) -> Self {
        let gi = number(text).map(SeqId::Gi);
        Self { ids: first_id(text).into_iter().chain(gi).collect() }
    }

    /// Returns the first definition line with one of the identifiers.
    pub(super) fn find(&self, lines: Vec<Defline>) -> Option<Defline> {
        let meant = |id: &SeqId| self.ids.iter().any(|target| id.matches(target));
        lines.into_iter().find(|line| line.ids.iter().any(meant))
    }
}

fn number(text: &[u8]) -> Option<i64> {
    parse_integer(text, 10).ok()
}

fn first_id(text: &[u8]) -> Option<SeqId> {
    parse_fasta_ids(text).ok()?.into_iter().next()
}

/// Writes the start of a FASTA definition line: `>`, the identifier, `range` and a blank. A
/// sequence without an identifier of its own has only `>`, then `range` and a blank if there is a
/// range.
pub(super) fn start(ids: &[SeqId], range: Option<&str>, out: &mut Vec<u8>) -> Result<(), Stop> {
    let Some(first) = ids.first() else {
        return Err(Stop::Message("a definition line without identifiers".to_owned()));
    };
    out.push(b'>');
    if first.is_ordinal() {
        if let Some(range) = range {
            out.extend_from_slice(range.as_bytes());
            out.push(b' ');
        }
        return Ok(());
    }
    let id =
        if matches!(first, SeqId::Local(_)) { first } else { choose_text_id(ids).unwrap_or(first) };
    out.extend(id.format_for_report());
    out.extend_from_slice(range.unwrap_or_default().as_bytes());
    out.push(b' ');
    Ok(())
}

/// Writes a title with short identifiers in its merged definition lines, each after `separator`
/// (`s_ConfigureDeflineTitle`, blastdb_dataextract.cpp). Text after ` >` that is no identifier
/// stays.
pub(super) fn with_short_ids(title: &[u8], separator: &[u8], out: &mut Vec<u8>) {
    let mut rest = title;
    while let Some(at) = rest.windows(SEPARATOR.len()).position(|two| two == SEPARATOR) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + SEPARATOR.len()..];
        let end = rest.iter().position(|&b| b == b' ').unwrap_or(rest.len());
        let end = end.min(find(rest, SEPARATOR).unwrap_or(end));
        match marked_id(&rest[..end]) {
            Some(id) => {
                out.extend_from_slice(separator);
                out.extend(id.format_for_report());
                rest = &rest[end..];
            }
            None => out.extend_from_slice(SEPARATOR),
        }
    }
    out.extend_from_slice(rest);
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// Parses a word as an identifier if it is marked as one: by a tag, or by a known database and a
/// colon.
fn marked_id(word: &[u8]) -> Option<SeqId> {
    let ids = parse_fasta_ids(word).ok()?;
    let tagged = word.get(2) == Some(&b'|') || word.get(3) == Some(&b'|');
    let marked = tagged || word.contains(&b':') && matches!(ids[..], [SeqId::General { .. }]);
    if marked { choose_text_id(&ids).cloned() } else { None }
}

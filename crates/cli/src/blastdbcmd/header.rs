//! Definition lines: selection by `-target_only`, and their form in FASTA.

use fleetblast_db::Defline;
use fleetblast_seq::convert::parse_integer;
use fleetblast_seq::id::{
    IdException, ObjectId, SeqId, TextRanking, choose_text_id, parse_fasta_ids,
    parse_number_or_accession,
};

use super::Stop;

/// Separates merged definition lines in the title of a sequence.
const SEPARATOR: &[u8] = b" >";

/// The identifiers that `-target_only` searches for.
pub(super) struct Target {
    /// The identifier as the user typed it.
    text: Vec<u8>,
    ids: Vec<SeqId>,
}

impl Target {
    /// Parses a target for FASTA output. A number is a GI or a local identifier; other text may
    /// also be a local identifier.
    pub(super) fn in_fasta(text: &[u8]) -> Self {
        let first = match parse_number(text) {
            Some(gi) => Some(SeqId::Gi(gi)),
            None => first_id(text),
        };
        Self::or_local(text, first)
    }

    /// Parses a target for output as a Bioseq. Text may be a local identifier only with its tag.
    pub(super) fn in_bioseq(text: &[u8]) -> Result<Self, IdException> {
        parse_number_or_accession(text).map(|id| Self::or_local(text, Some(id)))
    }

    /// Creates a target with the identifier `first`, and with a local identifier of the same
    /// accession and version (`CSeqDBVol::GetBioseq`, seqdbvol.cpp).
    fn or_local(text: &[u8], first: Option<SeqId>) -> Self {
        let local =
            first.as_ref().map(|id| SeqId::Local(ObjectId::from_text(&id.accession_version())));
        Self { text: text.to_vec(), ids: first.into_iter().chain(local).collect() }
    }

    /// Parses a target for lines of fields: an identifier, or a GI if it is a number
    /// (`CBlastDeflineUtil`, blastdb_dataextract.cpp).
    pub(super) fn in_fields(text: &[u8]) -> Self {
        let gi = parse_number(text).map(SeqId::Gi);
        Self { text: text.to_vec(), ids: first_id(text).into_iter().chain(gi).collect() }
    }

    /// Returns the first definition line with one of the target's identifiers, by the rules for
    /// lines of fields and for definition lines as ASN.1.
    pub(super) fn find_in_fields(&self, lines: Vec<Defline>) -> Result<Defline, Stop> {
        let meant = |id: &SeqId| self.ids.iter().any(|target| id.matches(target));
        let found = lines.into_iter().find(|line| line.ids.iter().any(meant));
        found.ok_or_else(|| {
            let target = String::from_utf8_lossy(&self.text);
            Stop::Message(format!("Failed to find target id {target}"))
        })
    }

    /// Returns the first definition line with one of the target's identifiers, by the rules for
    /// whole sequences as FASTA or ASN.1.
    pub(super) fn find_in_sequence(&self, lines: &[Defline]) -> Result<Defline, Stop> {
        let found = lines.iter().find(|line| self.ids.iter().any(|id| has_id(line, id)));
        found.cloned().ok_or_else(|| {
            Stop::Message("Error: oid headers do not contain target gi/seq_id.".to_owned())
        })
    }

    /// Returns whether a definition line has the first of the target's identifiers.
    pub(super) fn is_preferred(&self, line: &Defline) -> bool {
        self.ids.first().is_some_and(|id| has_id(line, id))
    }
}

/// Returns whether the first identifier of a definition line that can be compared with `id` matches
/// it. Later identifiers do not count (`s_SeqDB_SeqIdIn`, seqdbvol.cpp).
fn has_id(line: &Defline, id: &SeqId) -> bool {
    let first = line.ids.iter().find(|stored| stored.is_comparable(id));
    first.is_some_and(|stored| stored.matches(id))
}

fn parse_number(text: &[u8]) -> Option<i64> {
    parse_integer(text, 10).ok()
}

fn first_id(text: &[u8]) -> Option<SeqId> {
    parse_fasta_ids(text).ok()?.into_iter().next()
}

/// Writes the start of a FASTA definition line: `>`, the identifier, `range` and a blank. A
/// sequence without an identifier of its own has only `>`, then `range` and a blank if there is a
/// range.
pub(super) fn start(
    ids: &[SeqId],
    ranking: TextRanking,
    range: Option<&str>,
    out: &mut Vec<u8>,
) -> Result<(), Stop> {
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
    let id = match first {
        SeqId::Local(_) => first,
        _ => choose_text_id(ids, ranking).unwrap_or(first),
    };
    out.extend(id.format_for_report());
    out.extend_from_slice(range.unwrap_or_default().as_bytes());
    out.push(b' ');
    Ok(())
}

/// Writes a title with short identifiers in its merged definition lines, each after `separator`
/// (`s_ConfigureDeflineTitle`, blastdb_dataextract.cpp). Text after ` >` that is no identifier
/// stays.
pub(super) fn with_short_ids(
    title: &[u8],
    ranking: TextRanking,
    separator: &[u8],
    out: &mut Vec<u8>,
) {
    let mut rest = title;
    while let Some(at) = rest.windows(SEPARATOR.len()).position(|two| two == SEPARATOR) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + SEPARATOR.len()..];
        let end = rest.iter().position(|&b| b == b' ').unwrap_or(rest.len());
        let end = end.min(find(rest, SEPARATOR).unwrap_or(end));
        match marked_ids(&rest[..end]).and_then(|ids| choose_text_id(&ids, ranking).cloned()) {
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

/// Replaces the separator before each identifier in a title by Ctrl-A (`s_RejoinDeflineTitle`,
/// seq_formatter.cpp).
pub(super) fn with_ctrl_a_before_ids(title: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(title.len());
    let mut rest = title;
    while let Some(at) = find(rest, SEPARATOR) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + SEPARATOR.len()..];
        let end = rest.iter().position(|&b| b == b' ').unwrap_or(rest.len());
        let is_id = marked_ids(&rest[..end]).is_some();
        out.extend_from_slice(if is_id { b"\x01" } else { SEPARATOR });
    }
    out.extend_from_slice(rest);
    out
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// Parses a word as identifiers if it is marked as such: by a tag, or by a known database and a
/// colon.
fn marked_ids(word: &[u8]) -> Option<Vec<SeqId>> {
    let ids = parse_fasta_ids(word).ok()?;
    let tagged = word.get(2) == Some(&b'|') || word.get(3) == Some(&b'|');
    let marked = tagged || word.contains(&b':') && matches!(ids[..], [SeqId::General { .. }]);
    marked.then_some(ids)
}

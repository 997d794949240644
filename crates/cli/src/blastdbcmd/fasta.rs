//! Sequences in FASTA format.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;

use fleetblast_db::defline::joined_title;
use fleetblast_db::{Defline, SequenceKind};
use fleetblast_report::TitleFacts;
use fleetblast_seq::id::{SeqId, TextRanking, format_fasta_ids};

use super::Stop;
use super::config::Config;
use super::header::{self, Target};
use super::letters::{self, Alphabet};
use super::options::Options;
use super::source::Source;

/// A writer of sequences in FASTA format.
pub(super) struct Fasta {
    line_length: usize,
    /// Whether control characters (Ctrl-A) separate merged definition lines.
    ctrl_a: bool,
    long_seqids: bool,
    /// Identifiers of the sequences that were written whole, kept with `-long_seqids` only.
    written: RefCell<HashSet<Vec<u8>>>,
}

impl Fasta {
    pub(super) fn new(options: &Options) -> Self {
        let Options { line_length, ctrl_a, long_seqids, .. } = *options;
        Self { line_length: line_length.max(1), ctrl_a, long_seqids, written: RefCell::default() }
    }

    /// Appends a sequence to `out`. With `target`, only that definition line is written.
    pub(super) fn write(
        &self,
        source: &Source,
        oid: u32,
        config: &Config,
        target: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let length = source.database.length_of(oid);
        let mut lines = source.deflines(oid)?;
        if let Some(target) = target {
            lines = vec![Target::in_fasta(target).find_in_sequence(&lines)?];
        }
        if lines.is_empty() || length == 0 {
            return Ok(());
        }
        // BLAST+ reads the names of taxa of each sequence that has one, also if it prints none.
        if lines.iter().any(|line| line.taxid != 0) {
            source.taxonomy();
        }
        let part = config.part(length);
        let range = part.as_ref().map(|part| shown_range(part, config.minus));
        if self.long_seqids {
            if range.is_none() {
                self.refuse_duplicates(&lines[0].ids)?;
            }
            self.long_header(source, &lines, range.as_deref(), out);
        } else {
            self.short_header(source.release.text_ranking, &lines, range.as_deref(), out)?;
        }
        out.push(b'\n');
        let mut text = letters::letters(&source.database, oid, part.clone(), Alphabet::Extended)?;
        let masks = masks(source, oid, length, part.as_ref(), config)?;
        let start = part.as_ref().map_or(0, |part| part.start);
        let mirrored = config.minus && self.long_seqids && part.is_some();
        if mirrored {
            // BLAST+ reverses the sequence twice, once for the range and once for the strand, but
            // the masks only once.
            text.reverse();
            letters::mask(&mut text, start, &masks);
            text.reverse();
        } else {
            // BLAST+ applies the masks to the written text, whatever the strand.
            if config.minus {
                reverse_strand(&mut text, source.database.kind());
            }
            letters::mask(&mut text, start, &masks);
        }
        for line in text.chunks(self.line_length) {
            out.extend_from_slice(line);
            out.push(b'\n');
        }
        Ok(())
    }

    /// Writes one short identifier for each definition line
    /// (`CBlastDeflineUtil::ProcessFastaDeflines`).
    fn short_header(
        &self,
        ranking: TextRanking,
        lines: &[Defline],
        range: Option<&str>,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        header::start(&lines[0].ids, ranking, range, out)?;
        let title = joined_title(lines);
        let first = lines[0].ids.first();
        if first.is_some_and(|id| id.is_ordinal() || matches!(id, SeqId::Local(_))) {
            out.extend_from_slice(&title);
        } else {
            let separator: &[u8] = if self.ctrl_a { b"\x01" } else { b" >" };
            header::with_short_ids(&title, ranking, separator, out);
        }
        Ok(())
    }

    /// Refuses a whole sequence that was written before: with long identifiers, BLAST+ writes none
    /// twice (`CFastaOstream::x_WriteSeqIds`).
    fn refuse_duplicates(&self, ids: &[SeqId]) -> Result<(), Stop> {
        for id in ids.iter().map(SeqId::fasta) {
            if !self.written.borrow_mut().insert(id.clone()) {
                let id = String::from_utf8_lossy(&id);
                return Err(Stop::Message(format!("Duplicate Seq-id {id} in FASTA output")));
            }
        }
        Ok(())
    }

    /// Writes a definition line with all identifiers, in FASTA style (`CFastaOstream`).
    fn long_header(
        &self,
        source: &Source,
        lines: &[Defline],
        range: Option<&str>,
        out: &mut Vec<u8>,
    ) {
        out.push(b'>');
        let ids = &lines[0].ids;
        let is_protein = source.database.kind() == SequenceKind::Protein;
        out.extend(format_fasta_ids(ids, is_protein));
        out.extend_from_slice(range.unwrap_or_default().as_bytes());
        let mut title = joined_title(lines);
        if self.ctrl_a {
            title = match source.release.ctrl_a_replaces_all {
                true => header::with_ctrl_a_before_ids(&title),
                false => with_ctrl_a(&title),
            };
        }
        let taxid = lines.iter().map(|line| line.taxid).find(|&taxid| taxid > 0);
        // Other titles do not depend on the name, although BLAST+ looks it up.
        let needs_name = title.contains(&b']') || !title.iter().any(u8::is_ascii_alphanumeric);
        let organism = taxid.map(|taxid| {
            source.taxonomy();
            let names = if needs_name { source.taxon(taxid) } else { None };
            names.map(|names| names.scientific_name).unwrap_or_default()
        });
        let facts = TitleFacts {
            title: &title,
            ids,
            is_protein,
            fallback_title: b"",
            organism: organism.as_deref(),
            release: source.release,
            is_in_table: false,
        };
        let generated = facts.generate();
        if generated.first().is_some_and(|&first| first != b' ') {
            out.push(b' ');
        }
        out.extend(generated);
    }
}

/// Formats a range as `:3-10`, or as `:c10-3` for the minus strand.
fn shown_range(part: &Range<u32>, minus: bool) -> String {
    let (first, last) = (part.start + 1, part.end);
    if minus { format!(":c{last}-{first}") } else { format!(":{first}-{last}") }
}

/// Separates merged definition lines in a title by Ctrl-A: replaces each ` >gi|` by `\x01gi|`.
fn with_ctrl_a(title: &[u8]) -> Vec<u8> {
    const GI: &[u8] = b" >gi|";
    let mut out = Vec::with_capacity(title.len());
    let mut rest = title;
    while let Some(at) = rest.windows(GI.len()).position(|window| window == GI) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(b"\x01gi|");
        rest = &rest[at + GI.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// Converts the text to the minus strand. A protein that is retrieved like nucleotides is only
/// reversed.
fn reverse_strand(text: &mut [u8], kind: SequenceKind) {
    match kind {
        SequenceKind::Nucleotide => letters::reverse_complement(text),
        _ => text.reverse(),
    }
}

/// Returns the masks of a sequence. BLAST+ takes the length of a whole protein for a number of
/// bases, so it masks only the first third of it.
fn masks(
    source: &Source,
    oid: u32,
    length: u32,
    part: Option<&Range<u32>>,
    config: &Config,
) -> Result<Vec<Range<u32>>, Stop> {
    let Some(mask) = config.mask else { return Ok(Vec::new()) };
    let mut masks = source.masks()?.ranges(oid, mask)?;
    if part.is_none() && source.database.kind() == SequenceKind::Protein {
        let third = length.div_ceil(3);
        masks.retain(|mask| mask.start < third);
        masks.iter_mut().for_each(|mask| mask.end = mask.end.min(third));
    }
    Ok(masks)
}

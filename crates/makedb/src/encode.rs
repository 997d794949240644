//! Encodes FASTA text for storage. Several threads encode different parts of the text.

use std::ops::Range;
use std::path::Path;

use fleetblast_seq::fasta::database::GapEffect;
use fleetblast_seq::fasta::{self, FastaError, Reader, Record, Rules, Warning};
use fleetblast_seq::id::{IdException, SeqId};

use crate::builder::NewSequence;
use crate::header::{self, BadCharacter, StoredDefline};
use crate::ids::{self, ParsedDefline};
use crate::kind::DatabaseKind;
use crate::masks::AlgorithmRanges;
use crate::nucleotide;
use crate::options::DatabaseOptions;

/// Largest GI that is stored.
const MAX_GI: i64 = u32::MAX as i64;

/// A part of an input that starts and ends with whole records.
#[derive(Debug)]
pub(crate) struct FastaPart {
    pub(crate) bytes: Vec<u8>,
    /// Number of lines of the input before this part.
    pub(crate) lines_before: u64,
}

/// A sequence ready to be stored, except for its number. Ranges refer to the buffers of its
/// [`EncodedPart`].
#[derive(Debug)]
pub(crate) struct EncodedSequence {
    pub(crate) sequence: Range<usize>,
    pub(crate) ambiguities: Range<usize>,
    pub(crate) header: Range<usize>,
    /// Offset in the header at which the number of the sequence is inserted; `None` if the header
    /// has no number.
    pub(crate) ordinal_offset: Option<usize>,
    pub(crate) length: u32,
    /// All identifiers of all definition lines.
    pub(crate) ids: Vec<SeqId>,
    /// Taxonomy ids, ascending and without duplicates.
    pub(crate) taxids: Vec<i32>,
    pub(crate) sequence_hash: u32,
    pub(crate) bad_characters: Vec<BadCharacter>,
    /// Whether a taxonomy id was found for the sequence.
    pub(crate) has_taxid: bool,
    /// Title of a sequence whose identifier is its number among the records without identifiers.
    /// Its header is added when the number is known.
    pub(crate) numbered_title: Option<Vec<u8>>,
}

/// Result of encoding a record.
#[derive(Debug)]
pub(crate) enum EncodingOutcome {
    /// The sequence to store.
    Stored(EncodedSequence),
    /// A record without residues, with its first identifier if it has one.
    NoResidues(Option<SeqId>),
    /// A record whose GI is too large.
    LargeGi(i64),
    /// A sequence that consists of a single gap. BLAST+ cannot store it, and the job ends.
    SingleGap,
    /// A definition line with a word that is not an identifier. The job ends.
    InvalidIdentifier(IdException),
}

/// A record of the input, and the result of encoding it.
#[derive(Debug)]
pub(crate) struct EncodedRecord {
    pub(crate) line: u64,
    pub(crate) warnings: Vec<Warning>,
    /// Identifiers by which masks and messages name the record. Empty for a record without
    /// identifiers; its name is then its number among such records.
    pub(crate) names: Vec<SeqId>,
    pub(crate) outcome: EncodingOutcome,
}

/// The encoded records of a part of an input.
#[derive(Debug, Default)]
pub(crate) struct EncodedPart {
    pub(crate) sequences: Vec<u8>,
    pub(crate) headers: Vec<u8>,
    pub(crate) records: Vec<EncodedRecord>,
    /// The error that ended the input early.
    pub(crate) error: Option<FastaError>,
}

/// Encodes a part of the input. `name` is the input's name in messages.
pub(crate) fn encode_part(text: FastaPart, name: &Path, options: &DatabaseOptions) -> EncodedPart {
    let rules = fasta::Options {
        parse_deflines: options.parse_ids,
        rules: Rules::Database(options.kind.molecule()),
        id_end: options.id_end,
        ..fasta::Options::default()
    };
    let mut reader = Reader::new(&text.bytes[..], name, rules).with_lines_before(text.lines_before);
    let mut block = EncodedPart::default();
    loop {
        match reader.next_record() {
            Ok(Some(record)) => {
                let encoded = block.encode(record, options);
                block.records.push(encoded);
            }
            Ok(None) => return block,
            Err(error) => {
                block.error = Some(error);
                return block;
            }
        }
    }
}

impl EncodedPart {
    /// Returns an encoded sequence of this part with its masks.
    pub(crate) fn sequence<'a>(
        &'a self,
        entry: &'a EncodedSequence,
        masks: Vec<AlgorithmRanges>,
    ) -> NewSequence<'a> {
        NewSequence {
            letters: &self.sequences[entry.sequence.clone()],
            ambiguities: &self.sequences[entry.ambiguities.clone()],
            header: &self.headers[entry.header.clone()],
            ordinal_offset: entry.ordinal_offset,
            length: entry.length,
            ids: &entry.ids,
            taxids: &entry.taxids,
            pig: 0,
            hash: entry.sequence_hash,
            has_found_mask: !masks.is_empty(),
            masks,
            has_taxid: entry.has_taxid,
        }
    }

    fn encode(&mut self, mut record: Record, options: &DatabaseOptions) -> EncodedRecord {
        let warnings = std::mem::take(&mut record.warnings);
        let mut names = std::mem::take(&mut record.ids);
        let outcome = self.outcome(&record, &names, options);
        names.iter_mut().for_each(|id| ids::convert_to_local(id, options.kind.molecule()));
        EncodedRecord { line: record.line, warnings, names, outcome }
    }

    fn outcome(
        &mut self,
        record: &Record,
        names: &[SeqId],
        options: &DatabaseOptions,
    ) -> EncodingOutcome {
        let large = names.iter().find_map(|id| match id {
            SeqId::Gi(gi) if *gi > MAX_GI => Some(*gi),
            _ => None,
        });
        if let Some(gi) = large {
            return EncodingOutcome::LargeGi(gi);
        }
        if record.residues.is_empty() || record.gaps == GapEffect::StartsWithUnknownGap {
            return EncodingOutcome::NoResidues(names.first().cloned());
        }
        if record.gaps == GapEffect::Only {
            return EncodingOutcome::SingleGap;
        }
        match definitions(record, names, options) {
            Ok(definitions) => EncodingOutcome::Stored(self.store(record, definitions, options)),
            Err(refusal) => EncodingOutcome::InvalidIdentifier(refusal),
        }
    }

    fn store(
        &mut self,
        record: &Record,
        definitions: Definitions,
        options: &DatabaseOptions,
    ) -> EncodedSequence {
        let start = self.sequences.len();
        let ambiguities = match options.kind {
            DatabaseKind::Protein => {
                self.sequences.extend_from_slice(&record.residues);
                Vec::new()
            }
            DatabaseKind::Nucleotide => {
                nucleotide::pack_bases(&record.residues, &mut self.sequences)
            }
        };
        let sequence = start..self.sequences.len();
        self.sequences.extend_from_slice(&ambiguities);
        let ambiguities = sequence.end..self.sequences.len();
        let sequence_hash = if options.hash_index { hash(&record.residues) } else { 0 };
        let mut entry = EncodedSequence {
            sequence,
            ambiguities,
            header: 0..0,
            ordinal_offset: None,
            length: record.residues.len() as u32,
            ids: Vec::new(),
            taxids: Vec::new(),
            sequence_hash,
            bad_characters: Vec::new(),
            has_taxid: false,
            numbered_title: None,
        };
        match definitions {
            Definitions::Lines(lines) => self.add_header(&mut entry, lines, options),
            Definitions::Numbered(title) => entry.numbered_title = Some(title),
        }
        entry
    }

    /// Encodes the header of a sequence.
    pub(crate) fn add_header(
        &mut self,
        entry: &mut EncodedSequence,
        definitions: Vec<ParsedDefline>,
        options: &DatabaseOptions,
    ) {
        let lines = definitions.into_iter().map(|ParsedDefline { ids, title }| {
            let taxid = options.taxids.taxid_of_ids(&ids);
            entry.has_taxid |= taxid.is_some();
            let (title, taxid) = (Some(title), Some(i64::from(taxid.unwrap_or(0))));
            StoredDefline { title, ids, taxid, ..StoredDefline::default() }
        });
        let lines: Vec<_> = lines.collect();
        let start = self.headers.len();
        entry.ordinal_offset =
            header::write_header(&lines, &mut self.headers, &mut entry.bad_characters);
        entry.header = start..self.headers.len();
        entry.taxids = header::taxids(&lines);
        entry.ids = lines.into_iter().flat_map(|line| line.ids).collect();
    }
}

/// Content of the header of a record.
enum Definitions {
    Lines(Vec<ParsedDefline>),
    /// The identifier is the number of the record among those without identifiers. The text is the
    /// title.
    Numbered(Vec<u8>),
}

/// Parses the definition lines of a record. `names` has the identifiers of the FASTA reader.
fn definitions(
    record: &Record,
    names: &[SeqId],
    options: &DatabaseOptions,
) -> Result<Definitions, IdException> {
    if !options.parse_ids {
        let title = ids::unparsed_title(&record.defline);
        return Ok(Definitions::Lines(vec![ParsedDefline { ids: Vec::new(), title }]));
    }
    let molecule = options.kind.molecule();
    match ids::parse_deflines(&record.defline, molecule) {
        Ok(lines) if !ids::are_replaced(&lines, &record.ranged_ids) => {
            return Ok(Definitions::Lines(lines));
        }
        Err(refusal) if !options.keeps_reader_ids => return Err(refusal),
        _ => {}
    }
    let title = record.title.clone();
    if names.is_empty() {
        return Ok(Definitions::Numbered(title));
    }
    let mut ids = names.to_vec();
    ids.iter_mut().for_each(|id| ids::convert_to_local(id, molecule));
    Ok(Definitions::Lines(vec![ParsedDefline { ids, title }]))
}

/// Returns the hash of a sequence's codes in the hash index (`SeqDB_SequenceHash`).
pub(crate) fn hash(codes: &[u8]) -> u32 {
    codes.iter().fold(0u32, |hash, &code| {
        hash.wrapping_mul(1_103_515_245).wrapping_add(u32::from(code) + 12345)
    })
}

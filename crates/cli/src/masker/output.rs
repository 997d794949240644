//! The formats of masks (`mask_writer*.cpp`).

use std::ops::Range;

use fleetblast_job::error::Error;
use fleetblast_job::output::Output;
use fleetblast_makedb::masks::{MaskDescription, encode_location, encode_mask_info};
use fleetblast_report::{TitleFacts, UNNAMED_PROTEIN_TITLE, masking};
use fleetblast_seq::fasta::Record;
use fleetblast_seq::id::{Molecule, ObjectId, SeqId, choose_best_id};
use fleetblast_seq::{alphabet, nucleotide};

use super::options::{Algorithm, Encoding, Format, Options};
use crate::options::RELEASE;

/// Letters in a line of FASTA.
const LINE: usize = 60;

/// Writes masks in one of the formats.
pub(super) struct MaskWriter<'a> {
    options: &'a Options,
    output: Output,
    /// Number of sequences without an identifier.
    unnamed: i64,
    /// Encoded locations of a binary file of masks, which is written at the end.
    locations: Vec<u8>,
    has_locations: bool,
}

/// The numbers and the name of an algorithm in files of masks.
struct Program {
    algorithm: i64,
    number: i64,
    name: &'static str,
}

const SEG: Program = Program { algorithm: 1, number: 20, name: "seg" };
const DUST: Program = Program { algorithm: 2, number: 10, name: "dust" };

impl<'a> MaskWriter<'a> {
    pub(super) fn new(options: &'a Options, output: Output) -> Self {
        Self { options, output, unnamed: 0, locations: Vec::new(), has_locations: false }
    }

    fn program(&self) -> Program {
        match self.options.algorithm {
            Algorithm::Seg(_) => SEG,
            Algorithm::Dust { .. } => DUST,
        }
    }

    /// Writes the masks of a sequence.
    pub(super) fn write(&mut self, record: &Record, ranges: &[Range<u32>]) -> Result<(), Error> {
        let ids = self.ids(record);
        let mut text = Vec::new();
        match self.options.format {
            Format::Interval => {
                text = self.defline(record, &ids);
                text.push(b'\n');
                for range in ranges {
                    text.extend(format!("{} - {}\n", range.start, range.end - 1).into_bytes());
                }
            }
            Format::AccessionList => {
                let defline = self.defline(record, &ids);
                for range in ranges {
                    text.extend_from_slice(&defline);
                    text.extend(format!("\t{}\t{}\n", range.start, range.end - 1).into_bytes());
                }
            }
            Format::Fasta => {
                text = self.defline(record, &ids);
                text.push(b'\n');
                for line in self.letters(record, ranges).chunks(LINE) {
                    text.extend_from_slice(line);
                    text.push(b'\n');
                }
            }
            Format::Location(_) | Format::MaskInfo(_) if ranges.is_empty() => {}
            Format::Location(encoding) => {
                let Some(id) = choose_best_id(&ids) else { return Ok(()) };
                match encoding {
                    Encoding::Binary => encode_location(id, ranges, &mut text),
                    Encoding::Text => masking::print_location(id, ranges, &mut text),
                }
            }
            Format::MaskInfo(encoding) => {
                let Some(id) = choose_best_id(&ids) else { return Ok(()) };
                match encoding {
                    Encoding::Binary => encode_location(id, ranges, &mut self.locations),
                    Encoding::Text => {
                        let is_first = !self.has_locations;
                        if is_first {
                            self.start(&mut text);
                        }
                        masking::print_element(id, ranges, is_first, &mut text);
                    }
                }
                self.has_locations = true;
            }
        }
        self.output.write(&text)
    }

    /// Writes the end of a file of masks. Returns the output.
    pub(super) fn end(mut self) -> Result<Output, Error> {
        let mut bytes = Vec::new();
        match self.options.format {
            Format::MaskInfo(Encoding::Binary) => {
                let Program { algorithm, number, .. } = self.program();
                let options = self.options.description.clone().into_bytes();
                let description = MaskDescription { program: number, options };
                encode_mask_info(algorithm, &description, &self.locations, &mut bytes);
            }
            Format::MaskInfo(Encoding::Text) => {
                if !self.has_locations {
                    self.start(&mut bytes);
                }
                masking::print_end(&mut bytes);
            }
            _ => {}
        }
        self.output.write(&bytes)?;
        Ok(self.output)
    }

    fn start(&self, text: &mut Vec<u8>) {
        let Program { algorithm, name, .. } = self.program();
        masking::print_start(algorithm, name, &self.options.description, text);
    }

    /// Returns the identifiers of a sequence. Sequences without any are numbered.
    fn ids(&mut self, record: &Record) -> Vec<SeqId> {
        if !record.ids.is_empty() {
            return record.ids.clone();
        }
        self.unnamed += 1;
        vec![SeqId::Local(ObjectId::Number(self.unnamed))]
    }

    /// Formats the definition line: with `-parse_seqids` the gi and the best identifier, and always
    /// the title.
    fn defline(&self, record: &Record, ids: &[SeqId]) -> Vec<u8> {
        let mut line = b">".to_vec();
        if self.options.parse_seqids {
            let (gis, others): (Vec<SeqId>, Vec<SeqId>) =
                ids.iter().cloned().partition(|id| matches!(id, SeqId::Gi(_)));
            let shown = [gis.first(), choose_best_id(&others)];
            let shown: Vec<Vec<u8>> = shown.into_iter().flatten().map(SeqId::fasta).collect();
            line.extend(shown.join(&b'|'));
            line.push(b' ');
        }
        let facts = TitleFacts {
            title: &record.title,
            ids,
            is_protein: self.options.algorithm.molecule() == Molecule::Protein,
            fallback_title: UNNAMED_PROTEIN_TITLE,
            organism: None,
            release: RELEASE,
            is_in_table: false,
        };
        line.extend(facts.generate());
        line
    }

    /// Returns the IUPAC letters of a sequence, masked ones in lower case.
    fn letters(&self, record: &Record, ranges: &[Range<u32>]) -> Vec<u8> {
        let letter = |&code: &u8| match self.options.algorithm {
            Algorithm::Dust { .. } => nucleotide::LETTERS[usize::from(code & 15)],
            // IUPAC has neither gaps nor stops.
            Algorithm::Seg(_) => match alphabet::decode(code) {
                b'-' | b'*' => b'X',
                letter => letter,
            },
        };
        let mut letters: Vec<u8> = record.residues.iter().map(letter).collect();
        // Masks may overlap. After the end of a mask BLAST+ looks only at the next one, and goes on
        // with the one after it only at the next letter.
        let mut current = 0;
        for (at, letter) in (0..).zip(&mut letters) {
            current += usize::from(ranges.get(current).is_some_and(|range| at >= range.end));
            if ranges.get(current).is_some_and(|range| range.contains(&at)) {
                letter.make_ascii_lowercase();
            }
        }
        letters
    }
}

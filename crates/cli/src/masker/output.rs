//! The formats of masks (`mask_writer*.cpp`).

use std::ops::Range;

use fleetblast_job::error::Error;
use fleetblast_job::output::Output;
use fleetblast_report::masking::{MaskAlgorithm, MaskFileWriter, write_location};
use fleetblast_report::{TitleFacts, UNNAMED_PROTEIN_TITLE};
use fleetblast_seq::id::{Molecule, SeqId, choose_best_id};
use fleetblast_seq::{alphabet, nucleotide};

use super::input::Sequence;
use super::numbering::Numbering;
use super::options::{Algorithm, Format, Options};

/// Letters in a line of FASTA.
const LINE: usize = 60;

/// Writes masks in one of the formats.
pub(super) struct MaskWriter<'a> {
    options: &'a Options,
    output: Output,
    numbering: Numbering,
    /// The writer of a file of masks; `None` for formats of other kinds.
    file: Option<MaskFileWriter>,
}

impl<'a> MaskWriter<'a> {
    pub(super) fn new(options: &'a Options, output: Output) -> Self {
        let file = match options.format {
            Format::MaskInfo(encoding) => Some(MaskFileWriter::new(algorithm(options), encoding)),
            _ => None,
        };
        Self { options, output, numbering: Numbering::default(), file }
    }

    /// Writes the masks of a sequence.
    pub(super) fn write(
        &mut self,
        sequence: &Sequence,
        ranges: &[Range<u32>],
    ) -> Result<(), Error> {
        let ids = self.numbering.identify(&sequence.ids);
        let mut text = Vec::new();
        match self.options.format {
            Format::Interval => {
                text = self.defline(sequence, &ids);
                text.push(b'\n');
                for range in ranges {
                    text.extend(format!("{} - {}\n", range.start, range.end - 1).into_bytes());
                }
            }
            Format::AccessionList => {
                let defline = self.defline(sequence, &ids);
                for range in ranges {
                    text.extend_from_slice(&defline);
                    text.extend(format!("\t{}\t{}\n", range.start, range.end - 1).into_bytes());
                }
            }
            Format::Fasta => {
                text = self.defline(sequence, &ids);
                text.push(b'\n');
                for line in self.letters(sequence, ranges).chunks(LINE) {
                    text.extend_from_slice(line);
                    text.push(b'\n');
                }
            }
            Format::Location(_) | Format::MaskInfo(_) if ranges.is_empty() => {}
            Format::Location(encoding) => {
                let Some(id) = choose_best_id(&ids) else { return Ok(()) };
                write_location(id, ranges, encoding, &mut text);
            }
            Format::MaskInfo(_) => {
                let Some(id) = choose_best_id(&ids) else { return Ok(()) };
                let file = self.file.as_mut();
                file.into_iter().for_each(|file| file.add(id, ranges, &mut text));
            }
        }
        self.output.write(&text)
    }

    /// Writes the end of a file of masks. Returns the output.
    pub(super) fn end(mut self) -> Result<Output, Error> {
        let mut bytes = Vec::new();
        self.file.into_iter().for_each(|file| file.end(&mut bytes));
        self.output.write(&bytes)?;
        Ok(self.output)
    }

    /// Formats the definition line: with `-parse_seqids` the gi and the best identifier, and always
    /// the title.
    fn defline(&self, sequence: &Sequence, ids: &[SeqId]) -> Vec<u8> {
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
            title: &sequence.title,
            ids,
            is_protein: self.options.algorithm.molecule() == Molecule::Protein,
            fallback_title: UNNAMED_PROTEIN_TITLE,
            organism: sequence.organism.as_deref(),
            release: self.options.release,
            is_in_table: false,
        };
        line.extend(facts.generate());
        line
    }

    /// Returns the IUPAC letters of a sequence, masked ones in lower case or replaced.
    fn letters(&self, sequence: &Sequence, ranges: &[Range<u32>]) -> Vec<u8> {
        let letter = |&code: &u8| match self.options.algorithm {
            Algorithm::Dust { .. } => nucleotide::LETTERS[usize::from(code & 15)],
            // IUPAC has neither gaps nor stops.
            Algorithm::Seg(_) => match alphabet::decode(code) {
                b'-' | b'*' => b'X',
                letter => letter,
            },
        };
        let mut letters: Vec<u8> = sequence.residues.iter().map(letter).collect();
        // Masks may overlap. After the end of a mask BLAST+ looks only at the next one, and goes on
        // with the one after it only at the next letter.
        let mut current = 0;
        for (at, letter) in (0..).zip(&mut letters) {
            current += usize::from(ranges.get(current).is_some_and(|range| at >= range.end));
            if ranges.get(current).is_some_and(|range| range.contains(&at)) {
                *letter = match self.options.hard_masking {
                    true => b'N',
                    false => letter.to_ascii_lowercase(),
                };
            }
        }
        letters
    }
}

/// Describes the algorithm as files of masks do.
fn algorithm(options: &Options) -> MaskAlgorithm {
    let (id, program, name) = match options.algorithm {
        Algorithm::Seg(_) => (1, 20, "seg"),
        Algorithm::Dust { .. } => (2, 10, "dust"),
    };
    MaskAlgorithm { id, program, name, options: options.description.clone().into_bytes() }
}

//! Reads FASTA into a database: one thread reads, others encode, and the caller's thread writes in
//! order.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::num::NonZero;
use std::path::Path;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};
use fleetblast_seq::fasta::{FastaError, Warning};
use fleetblast_seq::id::{ObjectId, SeqId, choose_best_id};

use crate::builder::DatabaseBuilder;
use crate::encode::{EncodedPart, EncodedRecord, EncodingOutcome, FastaPart, encode_part};
use crate::error::{MakedbError, RecordProblem};
use crate::header::BadCharacter;
use crate::ids::ParsedDefline;
use crate::options::DatabaseOptions;
use crate::split::FastaSplitter;

/// Maximum number of parts of the input in progress, per encoding thread.
const PARTS_PER_THREAD: usize = 3;

/// Events while an input is read.
#[derive(Debug)]
pub enum InputEvent<'a> {
    /// A warning about the input.
    Warning(&'a Warning),
    /// A character that cannot be stored.
    BadCharacter(&'a BadCharacter),
    /// A record without residues.
    EmptyRecord {
        /// Identifier of the record, with tag.
        id: &'a [u8],
        /// Number of sequences before the record.
        after: u64,
    },
    /// A record whose GI is too large.
    LargeGi {
        /// The GI.
        gi: i64,
        /// Number of sequences before the record.
        after: u64,
    },
}

/// Adds the sequences of a FASTA input and returns their number.
///
/// `name` is the input's name in messages. Besides the reading thread, `threads` threads encode.
/// `report` receives the events in BLAST+'s order.
///
/// # Errors
/// [`MakedbError`]; the builder cannot be used afterwards. Events before the error are reported.
pub fn add_fasta(
    builder: &mut DatabaseBuilder,
    input: Box<dyn BufRead + Send>,
    name: &Path,
    threads: NonZero<usize>,
    mut report: impl FnMut(InputEvent<'_>),
) -> Result<u64, MakedbError> {
    let options = builder.options().clone();
    let parts = threads.get() * PARTS_PER_THREAD;
    let (to_encoders, from_reader) = bounded::<(u64, FastaPart)>(parts);
    let (to_writer, from_encoders) = bounded::<(u64, EncodeResult)>(parts);
    // Limits the memory: the reader takes a permit for each part, and gets it back when an earlier
    // part is written.
    let (give_back, allowed) = bounded::<()>(parts);
    let before = builder.sequence_count();
    thread::scope(|scope| {
        for _ in 0..parts {
            let _ = give_back.send(());
        }
        let errors = to_writer.clone();
        scope.spawn(move || read(input, name, &allowed, &to_encoders, &errors));
        for _ in 0..threads.get() {
            let (parts, blocks, options) = (from_reader.clone(), to_writer.clone(), &options);
            scope.spawn(move || work(&parts, &blocks, name, options));
        }
        drop((from_reader, to_writer));
        let mut writer = Writer { builder, name, generated: 0, late_reports: Vec::new() };
        let result = writer.write(&from_encoders, &give_back, &mut report);
        // The other threads end when nobody receives their results.
        drop((from_encoders, give_back));
        result
    })?;
    Ok(builder.sequence_count() - before)
}

/// An encoded part of the input, or the error that ended the input.
type EncodeResult = Result<EncodedPart, FastaError>;

/// Reads the input, and sends its parts to the encoding threads.
fn read(
    input: Box<dyn BufRead + Send>,
    name: &Path,
    allowed: &Receiver<()>,
    parts: &Sender<(u64, FastaPart)>,
    errors: &Sender<(u64, EncodeResult)>,
) {
    let mut splitter = FastaSplitter::new(input, name);
    for number in 0.. {
        if allowed.recv().is_err() {
            return;
        }
        let sent = match splitter.next_part() {
            Ok(Some(text)) => parts.send((number, text)).is_ok(),
            Ok(None) => false,
            Err(error) => {
                // The receiver is gone if the job ended for another reason.
                let _ = errors.send((number, Err(error)));
                false
            }
        };
        if !sent {
            return;
        }
    }
}

/// Encodes parts until there are no more, or until the writer has ended.
fn work(
    parts: &Receiver<(u64, FastaPart)>,
    blocks: &Sender<(u64, EncodeResult)>,
    name: &Path,
    options: &DatabaseOptions,
) {
    for (number, text) in parts {
        if blocks.send((number, Ok(encode_part(text, name, options)))).is_err() {
            return;
        }
    }
}

struct Writer<'a> {
    builder: &'a mut DatabaseBuilder,
    name: &'a Path,
    /// Number of records without identifiers so far.
    generated: u32,
    /// Bad characters of the last sequence: BLAST+ reports them again when it writes the sequence.
    late_reports: Vec<BadCharacter>,
}

impl Writer<'_> {
    /// Writes encoded parts in the order of their numbers.
    fn write(
        &mut self,
        blocks: &Receiver<(u64, EncodeResult)>,
        give_back: &Sender<()>,
        report: &mut impl FnMut(InputEvent<'_>),
    ) -> Result<(), MakedbError> {
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for (number, block) in blocks {
            waiting.insert(number, block);
            while let Some(block) = waiting.remove(&next) {
                next += 1;
                self.write_block(block?, report)?;
                // The reader may have ended.
                let _ = give_back.send(());
            }
        }
        self.report_late(report);
        Ok(())
    }

    fn report_late(&mut self, report: &mut impl FnMut(InputEvent<'_>)) {
        self.late_reports.drain(..).for_each(|bad| report(InputEvent::BadCharacter(&bad)));
    }

    fn write_block(
        &mut self,
        mut block: EncodedPart,
        report: &mut impl FnMut(InputEvent<'_>),
    ) -> Result<(), MakedbError> {
        let records = std::mem::take(&mut block.records);
        for record in records {
            self.write_record(&mut block, record, report)?;
        }
        let Some(error) = block.error.take() else { return Ok(()) };
        if let FastaError::Invalid { warnings, .. } = &error {
            warnings.iter().for_each(|warning| report(InputEvent::Warning(warning)));
        }
        Err(error.into())
    }

    fn write_record(
        &mut self,
        block: &mut EncodedPart,
        record: EncodedRecord,
        report: &mut impl FnMut(InputEvent<'_>),
    ) -> Result<(), MakedbError> {
        let EncodedRecord { line, warnings, mut names, outcome } = record;
        warnings.iter().for_each(|warning| report(InputEvent::Warning(warning)));
        if names.is_empty() {
            self.generated += 1;
            names.push(SeqId::Local(ObjectId::Number(i64::from(self.generated))));
        }
        let problem =
            |problem| MakedbError::InvalidRecord { file: self.name.to_path_buf(), line, problem };
        match outcome {
            EncodingOutcome::Stored(mut entry) => {
                if let Some(title) = entry.numbered_title.take() {
                    let line = ParsedDefline { ids: names.clone(), title };
                    block.add_header(&mut entry, vec![line], self.builder.options());
                }
                entry.bad_characters.iter().for_each(|bad| report(InputEvent::BadCharacter(bad)));
                self.report_late(report);
                let masks = self.builder.options().masks.ranges_of(&names);
                let sequence = block.sequence(&entry, masks);
                // BLAST+ encodes the header again for the number in a new volume.
                let is_numbered = sequence.ordinal_offset.is_some();
                let is_encoded_again = self.builder.add(&sequence)? && is_numbered;
                self.late_reports.clone_from(&entry.bad_characters);
                if is_encoded_again {
                    self.late_reports.extend(entry.bad_characters);
                }
                Ok(())
            }
            EncodingOutcome::NoResidues(id) => {
                let id = id.as_ref().unwrap_or(&names[0]).fasta();
                report(InputEvent::EmptyRecord { id: &id, after: self.builder.sequence_count() });
                Ok(())
            }
            EncodingOutcome::LargeGi(gi) => {
                report(InputEvent::LargeGi { gi, after: self.builder.sequence_count() });
                Ok(())
            }
            EncodingOutcome::SingleGap => {
                let name = choose_best_id(&names).unwrap_or(&names[0]).accession();
                let name = String::from_utf8_lossy(&name).into_owned();
                self.builder.reject_sequence(problem(RecordProblem::SingleGap(name)))
            }
            EncodingOutcome::InvalidIdentifier(refusal) => {
                Err(problem(RecordProblem::InvalidIdentifier(refusal)))
            }
        }
    }
}

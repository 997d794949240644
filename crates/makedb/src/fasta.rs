//! Reading FASTA into a database: one thread reads, others encode, the caller's writes in order.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::num::NonZero;
use std::path::Path;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};
use fleetblast_seq::fasta::{FastaError, Warning};
use fleetblast_seq::id::{ObjectId, SeqId, best_choice};

use crate::builder::Builder;
use crate::encode::{Block, Encoded, Outcome, Text, encode};
use crate::error::{Error, RecordProblem};
use crate::header::BadCharacter;
use crate::options::Options;
use crate::split::Splitter;

/// Parts of the input that are on their way for each thread.
const PARTS_PER_THREAD: usize = 3;

/// What is told while an input is read.
#[derive(Debug)]
pub enum Event<'a> {
    /// Something odd in the input.
    Warning(&'a Warning),
    /// A character that cannot be stored.
    BadCharacter(&'a BadCharacter),
    /// A record without residues.
    Ignored {
        /// Its identifier, with tag.
        id: &'a [u8],
        /// Number of sequences before it.
        after: u64,
    },
    /// A record whose GI is too large.
    LargeGi {
        /// The GI.
        gi: i64,
        /// Number of sequences before it.
        after: u64,
    },
}

/// Adds the sequences of a FASTA input, called `name` in messages, and gives their number. Besides
/// the reading thread, `threads` threads encode.
///
/// # Errors
/// [`Error`]; the builder is then of no use. What BLAST+ would tell before is told.
pub fn add_fasta(
    builder: &mut Builder,
    input: Box<dyn BufRead + Send>,
    name: &Path,
    threads: NonZero<usize>,
    mut tell: impl FnMut(Event<'_>),
) -> Result<u64, Error> {
    let options = builder.options().clone();
    let parts = threads.get() * PARTS_PER_THREAD;
    let (to_encoders, from_reader) = bounded::<(u64, Text)>(parts);
    let (to_writer, from_encoders) = bounded::<(u64, Finished)>(parts);
    // A part is read only when an earlier one was written: no more are in memory at a time.
    let (give_back, allowed) = bounded::<()>(parts);
    let before = builder.sequences();
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
        let mut writer = Writer { builder, name, generated: 0, told_late: Vec::new() };
        let result = writer.write(&from_encoders, &give_back, &mut tell);
        // The other threads end when nobody takes what they send.
        drop((from_encoders, give_back));
        result
    })?;
    Ok(builder.sequences() - before)
}

/// A part of the input that was encoded, or why there are no more.
type Finished = Result<Block, FastaError>;

/// Cuts the input into parts.
fn read(
    input: Box<dyn BufRead + Send>,
    name: &Path,
    allowed: &Receiver<()>,
    parts: &Sender<(u64, Text)>,
    errors: &Sender<(u64, Finished)>,
) {
    let mut splitter = Splitter::new(input, name);
    for number in 0.. {
        if allowed.recv().is_err() {
            return;
        }
        let sent = match splitter.next_part() {
            Ok(Some(text)) => parts.send((number, text)).is_ok(),
            Ok(None) => false,
            Err(error) => {
                // Nobody listens any more: the run has ended for another reason.
                let _ = errors.send((number, Err(error)));
                false
            }
        };
        if !sent {
            return;
        }
    }
}

/// Encodes parts as long as there are any.
fn work(
    parts: &Receiver<(u64, Text)>,
    blocks: &Sender<(u64, Finished)>,
    name: &Path,
    options: &Options,
) {
    for (number, text) in parts {
        if blocks.send((number, Ok(encode(text, name, options)))).is_err() {
            return;
        }
    }
}

struct Writer<'a> {
    builder: &'a mut Builder,
    name: &'a Path,
    /// Records without identifiers so far.
    generated: u32,
    /// Of the last sequence: BLAST+ tells of them again when it writes it.
    told_late: Vec<BadCharacter>,
}

impl Writer<'_> {
    /// Writes blocks in the order of their numbers.
    fn write(
        &mut self,
        blocks: &Receiver<(u64, Finished)>,
        give_back: &Sender<()>,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<(), Error> {
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for (number, block) in blocks {
            waiting.insert(number, block);
            while let Some(block) = waiting.remove(&next) {
                next += 1;
                self.write_block(block?, tell)?;
                // The reader may have ended.
                let _ = give_back.send(());
            }
        }
        self.tell_late(tell);
        Ok(())
    }

    fn tell_late(&mut self, tell: &mut impl FnMut(Event<'_>)) {
        self.told_late.drain(..).for_each(|bad| tell(Event::BadCharacter(&bad)));
    }

    fn write_block(
        &mut self,
        mut block: Block,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<(), Error> {
        let records = std::mem::take(&mut block.records);
        for record in records {
            self.write_record(&block, record, tell)?;
        }
        let Some(error) = block.error.take() else { return Ok(()) };
        if let FastaError::Invalid { warnings, .. } = &error {
            warnings.iter().for_each(|warning| tell(Event::Warning(warning)));
        }
        Err(error.into())
    }

    fn write_record(
        &mut self,
        block: &Block,
        record: Encoded,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<(), Error> {
        let Encoded { line, warnings, mut names, outcome } = record;
        warnings.iter().for_each(|warning| tell(Event::Warning(warning)));
        if names.is_empty() {
            self.generated += 1;
            names.push(SeqId::Local(ObjectId::Number(i64::from(self.generated))));
        }
        let problem = |problem| Error::Record { file: self.name.to_path_buf(), line, problem };
        match outcome {
            Outcome::Stored(entry) => {
                entry.bad_characters.iter().for_each(|bad| tell(Event::BadCharacter(bad)));
                self.tell_late(tell);
                self.builder.add(block, &entry, &names)?;
                self.told_late = entry.bad_characters;
                Ok(())
            }
            Outcome::Empty(id) => {
                let id = id.as_ref().unwrap_or(&names[0]).fasta();
                tell(Event::Ignored { id: &id, after: self.builder.sequences() });
                Ok(())
            }
            Outcome::LargeGi(gi) => {
                tell(Event::LargeGi { gi, after: self.builder.sequences() });
                Ok(())
            }
            Outcome::OnlyGap => {
                let name = best_choice(&names).unwrap_or(&names[0]).accession();
                let name = String::from_utf8_lossy(&name).into_owned();
                self.builder.refuse(problem(RecordProblem::OnlyGap(name)))
            }
            Outcome::NoIdentifier(refusal) => Err(problem(RecordProblem::NoIdentifier(refusal))),
        }
    }
}

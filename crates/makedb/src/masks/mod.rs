//! Masks from masking programs, and their stored form.

mod file;

use std::collections::HashMap;
use std::ops::Range;

use fleetblast_seq::id::SeqId;

pub use self::file::{MaskDescription, MaskError, MaskFile};

/// First number for algorithms that users name.
const NAMED: u32 = 100;
/// First number that is too large for an algorithm.
const END: u32 = 255;
/// First algorithm number of each program: dust, seg, windowmasker, repeat, other.
const PROGRAMS: [u32; 5] = [10, 20, 30, 40, NAMED];

/// A masking algorithm of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskAlgorithm {
    id: u32,
    description: Vec<u8>,
    /// Text that distinguishes the algorithm from others.
    key: Vec<u8>,
}

impl MaskAlgorithm {
    /// Returns the number of the algorithm, which `-db_soft_mask` uses.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the description of the algorithm in the database.
    pub(crate) fn description(&self) -> &[u8] {
        &self.description
    }
}

/// An error of adding an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MaskAlgorithmError {
    /// The algorithm exists already.
    #[error("Duplicate masking algorithm found.")]
    DuplicateAlgorithm,
    /// An algorithm of the same program without options exists already.
    #[error("Masking algorithm with default arguments already provided")]
    DuplicateDefault,
    /// All numbers for algorithms of the program are taken. The value is the range of these
    /// numbers.
    #[error("Too many IDs in range {}-{}", .0.start, .0.end)]
    NoFreeNumber(Range<u32>),
    /// The program is unknown.
    #[error("Invalid filtering program: {0}")]
    UnknownProgram(i64),
}

/// The masked ranges of one algorithm, by the identifier of the sequence.
type Ranges = HashMap<SeqId, Vec<Range<u32>>>;

/// The number of an algorithm, and the ranges that it masks in a sequence.
pub type AlgorithmRanges = (u32, Vec<Range<u32>>);

/// The masks of all sequences.
#[derive(Clone, Debug, Default)]
pub struct SequenceMasks {
    algorithms: Vec<MaskAlgorithm>,
    /// Ranges by algorithm number, in the order in which the algorithms got their first ranges.
    ranges: Vec<(u32, Ranges)>,
}

impl SequenceMasks {
    /// Returns the algorithms added so far.
    pub fn algorithms(&self) -> &[MaskAlgorithm] {
        &self.algorithms
    }

    /// Returns whether there are no masks.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds an algorithm with a name and a description of the user's choice; returns its number.
    ///
    /// # Errors
    /// If the name is taken, or no number is free.
    pub fn add_custom_algorithm(
        &mut self,
        name: &[u8],
        description: &[u8],
        options: &[u8],
    ) -> Result<u32, MaskAlgorithmError> {
        let id = self.free(NAMED, END)?;
        let text = [b"100", options, name, description];
        self.add(id, name.to_vec(), &text)
    }

    /// Adds the algorithm of a known program (10 dust, 20 seg, 30 windowmasker, 40 repeat, 100
    /// other); returns its number. `name` is the name of the file of masks. It distinguishes
    /// algorithms with equal options.
    ///
    /// # Errors
    /// If the program is unknown, if no number is free, or if the algorithm exists already: the
    /// same program, options and name, or dust, seg or windowmasker without options.
    pub fn add_program_algorithm(
        &mut self,
        program: i64,
        options: &[u8],
        name: &[u8],
    ) -> Result<u32, MaskAlgorithmError> {
        let known = PROGRAMS.iter().position(|&first| i64::from(first) == program);
        let Some(known) = known else { return Err(MaskAlgorithmError::UnknownProgram(program)) };
        let (first, end) = (PROGRAMS[known], PROGRAMS.get(known + 1).copied().unwrap_or(END));
        let number = first.to_string().into_bytes();
        let key = [&number[..], name, options].concat();
        if self.algorithms.iter().any(|algorithm| algorithm.key == key) {
            return Err(MaskAlgorithmError::DuplicateAlgorithm);
        }
        // dust, seg and windowmasker: the first number is for default options.
        let id = match (known < 3, options.is_empty()) {
            (true, true) if self.algorithms.iter().any(|algorithm| algorithm.id == first) => {
                return Err(MaskAlgorithmError::DuplicateDefault);
            }
            (true, true) => first,
            (true, false) => self.free(first + 1, end)?,
            (false, _) => self.free(first, end)?,
        };
        if first == NAMED {
            self.add(id, key, &[&number, options, name, b""])
        } else {
            self.add(id, key, &[&number, options])
        }
    }

    fn add(&mut self, id: u32, key: Vec<u8>, parts: &[&[u8]]) -> Result<u32, MaskAlgorithmError> {
        if self.algorithms.iter().any(|algorithm| algorithm.key == key) {
            return Err(MaskAlgorithmError::DuplicateAlgorithm);
        }
        // Colons separate the parts, so byte 1 replaces colons within a part.
        let escaped: Vec<Vec<u8>> = parts
            .iter()
            .map(|part| part.iter().map(|&byte| if byte == b':' { 1 } else { byte }).collect())
            .collect();
        self.algorithms.push(MaskAlgorithm { id, description: escaped.join(&b':'), key });
        Ok(id)
    }

    fn free(&self, first: u32, end: u32) -> Result<u32, MaskAlgorithmError> {
        let taken = |id: u32| self.algorithms.iter().any(|algorithm| algorithm.id == id);
        (first..end).find(|&id| !taken(id)).ok_or(MaskAlgorithmError::NoFreeNumber(first..end))
    }

    /// Adds the masked ranges of an algorithm in one sequence, and joins them with earlier ranges.
    pub fn add_ranges(&mut self, algorithm: u32, id: SeqId, ranges: Vec<Range<u32>>) {
        let position = self.ranges.iter().position(|(number, _)| *number == algorithm);
        let position = position.unwrap_or_else(|| {
            self.ranges.push((algorithm, Ranges::new()));
            self.ranges.len() - 1
        });
        join(self.ranges[position].1.entry(id).or_default(), ranges);
    }

    /// Returns the masked ranges of the sequence with the identifiers `ids`, by algorithm.
    pub(crate) fn ranges_of(&self, ids: &[SeqId]) -> Vec<AlgorithmRanges> {
        let mut found = Vec::new();
        for (algorithm, by_id) in &self.ranges {
            let mut ranges = Vec::new();
            for more in ids.iter().filter_map(|id| by_id.get(id)) {
                join(&mut ranges, more.clone());
            }
            if !ranges.is_empty() {
                found.push((*algorithm, ranges));
            }
        }
        found
    }
}

/// Encodes the masks of a sequence twice: with the ends of ranges in big-endian and in
/// little-endian order. All other numbers are big-endian. Both encodings are empty if `masks` is
/// empty. Returns `None` if a range ends before its start or beyond `length`. Each algorithm in
/// `masks` must have a range.
pub(crate) fn encode_masks(masks: &[AlgorithmRanges], length: u32) -> Option<[Vec<u8>; 2]> {
    let mut blobs = [Vec::new(), Vec::new()];
    if masks.is_empty() {
        return Some(blobs);
    }
    let mut both = |number: u32| blobs.iter_mut().for_each(|b| b.extend(number.to_be_bytes()));
    both(masks.len() as u32);
    for (algorithm, ranges) in masks {
        let mut both = |number: u32| blobs.iter_mut().for_each(|b| b.extend(number.to_be_bytes()));
        both(*algorithm);
        both(ranges.len() as u32);
        for range in ranges {
            if range.start > range.end || range.end > length {
                return None;
            }
            for end in [range.start, range.end] {
                blobs[0].extend(end.to_be_bytes());
                blobs[1].extend(end.to_le_bytes());
            }
        }
    }
    Some(blobs)
}

/// Joins ranges with earlier ones: the result is in order and without overlaps. If there are no
/// earlier ranges, the new ones stay as they are.
fn join(ranges: &mut Vec<Range<u32>>, more: Vec<Range<u32>>) {
    if ranges.is_empty() {
        *ranges = more;
        return;
    }
    ranges.extend(more);
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<u32>> = Vec::with_capacity(ranges.len());
    for range in ranges.drain(..) {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    *ranges = joined;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_algorithms_follow_the_program_and_its_options() {
        let mut masks = SequenceMasks::default();
        assert_eq!(masks.add_program_algorithm(20, b"window=12", b"a"), Ok(21));
        assert_eq!(masks.add_program_algorithm(20, b"", b"a"), Ok(20));
        assert_eq!(
            masks.add_program_algorithm(20, b"", b"b"),
            Err(MaskAlgorithmError::DuplicateDefault)
        );
        assert_eq!(
            masks.add_program_algorithm(20, b"window=12", b"a"),
            Err(MaskAlgorithmError::DuplicateAlgorithm)
        );
        assert_eq!(masks.add_program_algorithm(40, b"x:y", b"a"), Ok(40));
        assert_eq!(masks.add_custom_algorithm(b"mine", b"my own", b"o"), Ok(100));
        assert_eq!(
            masks.add_custom_algorithm(b"mine", b"", b""),
            Err(MaskAlgorithmError::DuplicateAlgorithm)
        );
        assert_eq!(
            masks.add_program_algorithm(7, b"", b""),
            Err(MaskAlgorithmError::UnknownProgram(7))
        );
        let texts: Vec<_> = masks.algorithms().iter().map(|a| a.description()).collect();
        let wanted = [&b"20:window=12"[..], b"20:", b"40:x\x01y", b"100:o:mine:my own"];
        assert_eq!(texts, wanted);
    }

    #[test]
    fn later_ranges_are_joined_with_earlier_ones() {
        let mut masks = SequenceMasks::default();
        let id = SeqId::Gi(5);
        masks.add_ranges(21, id.clone(), vec![8..9, 2..4]);
        let encode = |masks: &SequenceMasks, id: &SeqId, length| {
            encode_masks(&masks.ranges_of(std::slice::from_ref(id)), length)
        };
        assert_eq!(encode(&masks, &SeqId::Gi(6), 9), Some([vec![], vec![]]));
        let [big, _] = encode(&masks, &id, 9).unwrap();
        let words: Vec<u32> =
            big.as_chunks::<4>().0.iter().map(|word| u32::from_be_bytes(*word)).collect();
        assert_eq!(words, [1, 21, 2, 8, 9, 2, 4]);
        masks.add_ranges(21, id.clone(), vec![3..5, 5..8]);
        let [_, little] = encode(&masks, &id, 9).unwrap();
        assert_eq!(little[12..], [2, 0, 0, 0, 9, 0, 0, 0]);
        assert_eq!(encode(&masks, &id, 8), None);
    }
}

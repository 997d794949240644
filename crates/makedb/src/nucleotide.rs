//! Nucleotide sequences in `.nsq` files: two bits per base, ambiguities separately.

use fleetblast_seq::nucleotide::random::Random;

/// Length of the longest sequence whose ambiguities can have the short form of one word for each
/// run.
const MAX_SHORT_OFFSET: usize = 0xff_ffff;
/// Longest run of one code in the short form.
const MAX_SHORT_RUN: usize = 15;
/// Longest run of one code in the long form of two words for each run. A longer run is divided.
const MAX_RUN: usize = 4095;
/// The bit of the count that marks the long form.
const NEW_FORM: u32 = 1 << 31;

/// Mark of an ambiguity code in [`TWO_BITS`].
const AMBIGUOUS: u8 = 0x80;

/// The two bits of each ncbi4na code of a single base; [`AMBIGUOUS`] for other codes.
const TWO_BITS: [u8; 256] = {
    let mut table = [AMBIGUOUS; 256];
    table[1] = 0;
    table[2] = 1;
    table[4] = 2;
    table[8] = 3;
    table
};

/// Consecutive bases with the same ambiguity code.
struct Run {
    code: u8,
    start: usize,
    length: usize,
}

/// Appends the packed form of a sequence of ncbi4na codes, one per byte. Returns the encoded list
/// of its ambiguities (`WriteDB_Ncbi4naToBinary`). Without ambiguities the list is empty, or a
/// count of 0 for at most two bases.
///
/// The low bits of the last byte are the number of bases in it, which can be 0.
pub(crate) fn pack_bases(codes: &[u8], packed: &mut Vec<u8>) -> Vec<u8> {
    let before = packed.len();
    packed.reserve(codes.len() / 4 + 1);
    let bits = |code: u8| TWO_BITS[usize::from(code)];
    let (quads, rest) = codes.as_chunks::<4>();
    let mut seen = 0;
    packed.extend(quads.iter().map(|&[a, b, c, d]| {
        let (a, b, c, d) = (bits(a), bits(b), bits(c), bits(d));
        seen |= a | b | c | d;
        a << 6 | b << 4 | c << 2 | d & 3
    }));
    let mut last = rest.len() as u8;
    for (i, &code) in rest.iter().enumerate() {
        seen |= bits(code);
        last |= (bits(code) & 3) << (6 - 2 * i);
    }
    packed.push(last);
    if seen & AMBIGUOUS == 0 {
        // BLAST+ uses two bits per base only if that is shorter than four.
        return if codes.len() <= 2 { vec![0; 4] } else { Vec::new() };
    }
    ambiguities(codes, &mut packed[before..])
}

/// Replaces ambiguities in the packed bases by random bases, and returns the encoded list of the
/// ambiguities.
fn ambiguities(codes: &[u8], packed: &mut [u8]) -> Vec<u8> {
    let mut random = Random::new(codes.len() as u32);
    let mut runs: Vec<Run> = Vec::new();
    for (at, &code) in codes.iter().enumerate() {
        if TWO_BITS[usize::from(code)] != AMBIGUOUS {
            continue;
        }
        match runs.last_mut() {
            Some(run)
                if run.code == code && run.start + run.length == at && run.length < MAX_RUN =>
            {
                run.length += 1;
            }
            _ => runs.push(Run { code, start: at, length: 1 }),
        }
        let shift = 6 - 2 * (at % 4);
        let byte = &mut packed[at / 4];
        *byte = *byte & !(3 << shift) | random.base(code) << shift;
    }
    block(&runs, codes.len())
}

/// Encodes the list of ambiguities: their count, and a word for each run. If a run or the sequence
/// is too long for this short form, every run has two words.
fn block(runs: &[Run], length: usize) -> Vec<u8> {
    let new_form = length > MAX_SHORT_OFFSET || runs.iter().any(|run| run.length > MAX_SHORT_RUN);
    let mut block = Vec::with_capacity(4 + runs.len() * if new_form { 8 } else { 4 });
    let count = runs.len() as u32;
    block.extend(if new_form { NEW_FORM | (2 * count) } else { count }.to_be_bytes());
    for run in runs {
        let (code, length, start) = (u32::from(run.code), run.length as u32 - 1, run.start as u32);
        if new_form {
            block.extend((code << 28 | length << 16).to_be_bytes());
            block.extend(start.to_be_bytes());
        } else {
            block.extend((code << 28 | length << 24 | start).to_be_bytes());
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleetblast_seq::nucleotide::encode;

    fn pack(letters: &str) -> (Vec<u8>, Vec<u8>) {
        let codes: Vec<u8> = letters.bytes().map(|c| encode(c).unwrap()).collect();
        let mut packed = Vec::new();
        let block = pack_bases(&codes, &mut packed);
        (packed, block)
    }

    #[test]
    fn the_last_byte_counts_its_bases() {
        assert_eq!(pack("ACGTACGTACGTA").0, [0x1b, 0x1b, 0x1b, 0x01]);
        assert_eq!(pack("ACGT").0, [0x1b, 0]);
        assert_eq!(pack("ACGTTT").0, [0x1b, 0xf2]);
        assert_eq!(pack("C"), (vec![0x41], vec![0; 4]));
        assert_eq!(pack("AC"), (vec![0x12], vec![0; 4]));
        assert_eq!(pack("ACG"), (vec![0x1b], vec![]));
    }

    /// The words are those of `makeblastdb -dbtype nucl` for these sequences.
    #[test]
    fn ambiguities_are_listed_in_the_form_that_fits() {
        let words = |block: &[u8]| -> Vec<u32> {
            block.as_chunks::<4>().0.iter().map(|word| u32::from_be_bytes(*word)).collect()
        };
        let mixed = format!("ACGT{}ACGTRYACGTWACGT{}ACG", "N".repeat(10), "N".repeat(20));
        assert_eq!(
            words(&pack(&mixed).1),
            [
                0x8000_000a,
                0xf009_0000,
                4,
                0x5000_0000,
                0x12,
                0xa000_0000,
                0x13,
                0x9000_0000,
                0x18,
                0xf013_0000,
                0x1d
            ]
        );
        let run = |n: usize| words(&pack(&format!("ACGT{}A", "N".repeat(n))).1);
        assert_eq!(run(15), [1, 0xfe00_0004]);
        assert_eq!(run(16), [0x8000_0002, 0xf00f_0000, 4]);
    }
}

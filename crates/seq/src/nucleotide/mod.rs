//! Nucleotides: the alphabet ncbi4na, with one bit for each base that a code can mean; the alphabet
//! blastna; packed bases.

pub mod blastna;
mod packed;
pub mod random;

pub use packed::Packed;

/// The letter of each code. Code 0 means no base and is the gap.
pub const LETTERS: [u8; 16] = *b"-ACMGRSVTWYHKDBN";

/// Code of `N`, any base.
pub const N: u8 = 15;

/// The code of each byte; 255 if the byte is no letter of the alphabet. `U` has the code of `T`.
const CODES: [u8; 256] = {
    let mut table = [255u8; 256];
    let mut code = 1;
    while code < 16 {
        table[LETTERS[code] as usize] = code as u8;
        table[LETTERS[code].to_ascii_lowercase() as usize] = code as u8;
        code += 1;
    }
    table[b'U' as usize] = 8;
    table[b'u' as usize] = 8;
    table
};

/// Returns the code of a letter in either case; `None` for any other byte.
///
/// ```
/// use fleetblast_seq::nucleotide::encode;
/// assert_eq!((encode(b'a'), encode(b'U'), encode(b'N')), (Some(1), encode(b'T'), Some(15)));
/// assert_eq!((encode(b'-'), encode(b'X')), (None, None));
/// ```
pub const fn encode(letter: u8) -> Option<u8> {
    match CODES[letter as usize] {
        255 => None,
        code => Some(code),
    }
}

//! The protein alphabet NCBIstdaa: codes 0 to 27 and their letters.

/// Number of codes in NCBIstdaa.
pub const SIZE: usize = 28;

/// The letter of each code. Code 0, the gap, is also the sentinel between sequences.
pub const LETTERS: [u8; SIZE] = *b"-ABCDEFGHIKLMNPQRSTVWXYZU*OJ";

/// The sentinel before, between and after sequences in memory and in database files.
pub const SENTINEL: u8 = 0;
/// Code of `C`, cysteine.
pub const C: u8 = 3;
/// Code of `X`, any residue.
pub const X: u8 = 21;
/// Code of `U`, selenocysteine.
pub const U: u8 = 24;
/// Code of `*`, a stop.
pub const STOP: u8 = 25;
/// Code of `O`, pyrrolysine.
pub const O: u8 = 26;

/// Returns true for the codes of the 20 standard residues.
///
/// ```
/// use fleetblast_seq::alphabet::{encode, is_standard};
/// assert!(is_standard(encode(b'W').unwrap()));
/// assert!(!is_standard(encode(b'B').unwrap()));
/// ```
pub const fn is_standard(code: u8) -> bool {
    matches!(code, 1 | 3..=20 | 22)
}

/// The code of each byte; 255 if the byte is no letter of the alphabet.
const CODES: [u8; 256] = {
    let mut table = [255u8; 256];
    let mut code = 0;
    while code < SIZE {
        table[LETTERS[code] as usize] = code as u8;
        table[LETTERS[code].to_ascii_lowercase() as usize] = code as u8;
        code += 1;
    }
    table
};

/// Returns the code of a letter in either case; `None` for any other byte.
pub const fn encode(letter: u8) -> Option<u8> {
    match CODES[letter as usize] {
        255 => None,
        code => Some(code),
    }
}

/// Returns the upper-case letter of a code below [`SIZE`].
pub const fn decode(code: u8) -> u8 {
    LETTERS[code as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_letters_are_inverse() {
        for code in 0..SIZE as u8 {
            assert_eq!(encode(decode(code)), Some(code));
            assert_eq!(encode(decode(code).to_ascii_lowercase()), Some(code));
        }
        assert_eq!(encode(b'5'), None);
        assert_eq!((0..SIZE as u8).filter(|&c| is_standard(c)).count(), 20);
    }
}

//! Guesses from letters whether a sequence is a protein or nucleotides.

use std::io::Read;
use std::path::Path;

use fleetblast_db::SequenceKind;
use fleetblast_seq::input;

/// Largest number of bytes at the start of a file that the guess uses.
const LOOKED_AT: u64 = 1 << 16;
/// Fewest letters for a guess; a shorter sequence may be either.
const SURE: usize = 30;
/// A protein has at least one letter in `ONE_IN` that stands for no nucleotide. The average is one
/// in three.
const ONE_IN: usize = 10;
/// Letters of unambiguous nucleotides, and N.
const BASES: &[u8] = b"ACGTUN";
/// Letters of amino acids that stand for no nucleotide.
const ONLY_IN_PROTEINS: &[u8] = b"EFILPQZ";

/// Guesses the type of the first sequence in a regular file; `None` if it is not clear.
pub fn guess_kind(path: &Path) -> Option<SequenceKind> {
    // Reading a pipe here would consume its data.
    if !path.is_file() {
        return None;
    }
    let mut start = Vec::new();
    input::open(path, |_| {}).ok()?.take(LOOKED_AT).read_to_end(&mut start).ok()?;
    guess_kind_of_text(&start)
}

/// Guesses the type of the first sequence from the first bytes of its file; `None` if it is not
/// clear.
fn guess_kind_of_text(start: &[u8]) -> Option<SequenceKind> {
    let lines = start.split(|&byte| byte == b'\n').skip_while(|line| line.starts_with(b">"));
    let lines = lines.take_while(|line| !line.starts_with(b">"));
    let letters = lines.flat_map(|line| line.trim_ascii()).map(u8::to_ascii_uppercase);
    let (mut all, mut bases, mut only_in_proteins) = (0, 0, 0);
    for letter in letters {
        all += 1;
        bases += usize::from(BASES.contains(&letter));
        only_in_proteins += usize::from(ONLY_IN_PROTEINS.contains(&letter));
    }
    match all {
        ..SURE => None,
        _ if bases == all => Some(SequenceKind::Nucleotide),
        _ if only_in_proteins * ONE_IN >= all => Some(SequenceKind::Protein),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_letters() {
        let bases = "ACGTTGCANNacgtacgtacgtacgtacgtuu";
        let protein = "MKVLAADTGHIWQERTYPASDFGHKLCVNMKVLAA";
        let kind = |text: String| guess_kind_of_text(text.as_bytes());
        let nucleotides = Some(SequenceKind::Nucleotide);
        assert_eq!(kind(format!(">q\n{bases}\r\n\n>next\nMKV\n")), nucleotides);
        assert_eq!(kind(bases.to_owned()), nucleotides);
        assert_eq!(kind(format!(">q\n{protein}\n>next\n{bases}\n")), Some(SequenceKind::Protein));
        assert_eq!(kind(protein.to_lowercase()), Some(SequenceKind::Protein));
        // The letters of these texts are not clear.
        let unclear = [format!(">q\n{bases}\nMKV\n"), ">short\nACGTACGT\n".to_owned()];
        let unclear =
            unclear.into_iter().chain([">q\n", "", ">s\nMKVLAADTGHIW\n"].map(str::to_owned));
        for text in unclear.chain([">q\nACGTRYSWKMBDHVNACGTRYSWKMBDHVN-ACGT\n".to_owned()]) {
            assert_eq!(kind(text.clone()), None, "{text}");
        }
    }
}

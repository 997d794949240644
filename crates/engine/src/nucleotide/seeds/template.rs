//! Templates of discontiguous megablast.

/// The positions of a discontiguous word that must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    /// Number of positions that must match, 11 or 12.
    pub weight: u32,
    /// Number of positions of the word, 16, 18 or 21.
    pub length: u32,
    /// The coding template, the optimal template, or both.
    pub kind: TemplateKind,
}

/// A kind of template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TemplateKind {
    /// For coding sequences: the third position of a codon matters less.
    Coding,
    /// For other sequences.
    Optimal,
    /// Both: a word of either is a hit.
    CodingAndOptimal,
}

impl Template {
    /// Returns a mask of the selected bases for each template, two bits a base, the first base in
    /// the highest bits.
    ///
    /// # Panics
    /// If no template has this weight and length.
    pub(super) fn masks(self) -> Vec<u64> {
        match self.kind {
            TemplateKind::Coding => vec![mask(self.pattern(0))],
            TemplateKind::Optimal => vec![mask(self.pattern(1))],
            TemplateKind::CodingAndOptimal => vec![mask(self.pattern(0)), mask(self.pattern(1))],
        }
    }

    /// Returns the pattern of the coding template (`kind` 0) or of the optimal one (`kind` 1). It
    /// has a `1` for each position that must match.
    fn pattern(self, kind: usize) -> &'static [u8] {
        let both: [&[u8]; 2] = match (self.weight, self.length) {
            (11, 16) => [b"1101101101101101", b"1110010110110111"],
            (11, 18) => [b"101101100101101101", b"111010010110010111"],
            (11, 21) => [b"100101100101100101101", b"111010010100010010111"],
            (12, 16) => [b"1111101101101101", b"1110110110110111"],
            (12, 18) => [b"101101101101101101", b"111010110010110111"],
            (12, 21) => [b"100101101101100101101", b"111010010110010010111"],
            (weight, length) => panic!("no template of weight {weight} and length {length}"),
        };
        both[kind]
    }
}

fn mask(pattern: &[u8]) -> u64 {
    let bits = |(i, &place): (usize, &u8)| if place == b'1' { 3 << (62 - 2 * i) } else { 0 };
    pattern.iter().enumerate().map(bits).fold(0, |mask, bits| mask | bits)
}

//! Letters of nucleotide sequences in ASN.1 (`Seq-data`, seq.asn).

use super::tree::AsnValue;

/// Makes the value of unambiguous bases, with four of them in a byte. The codes are those of
/// ncbi2na: 0 to 3.
pub fn two_bits(codes: &[u8]) -> AsnValue {
    AsnValue::choice("ncbi2na", pack(2, codes))
}

/// Makes the value of bases, with two of them in a byte. The codes are those of ncbi4na: a bit for
/// each possible base.
pub fn four_bits(codes: &[u8]) -> AsnValue {
    AsnValue::choice("ncbi4na", pack(4, codes))
}

/// Packs codes of this many bits. The first one is in the high bits.
fn pack(bits: usize, codes: &[u8]) -> AsnValue {
    let byte = |codes: &[u8]| {
        let place = |(at, &code): (usize, &u8)| code << (8 - bits * (at + 1));
        codes.iter().enumerate().map(place).fold(0, |byte, code| byte | code)
    };
    AsnValue::Bytes(codes.chunks(8 / bits).map(byte).collect())
}

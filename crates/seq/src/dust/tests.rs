use super::*;
use crate::nucleotide::encode;

/// Sequences and their masks (first and last base, from 0) in `blastn` of BLAST+ 2.12.0: by
/// default, and with `-dust "2 8 32"`. The masks are those in its archive (`-outfmt 11`).
type Golden = (&'static str, &'static [[u32; 2]], &'static [[u32; 2]]);
const GOLDEN: [Golden; 5] = [
    (
        "ACGTTGCATGCTAGCTAGGATCGATTTTTTTTTTTTTTTTTTTCGATCGCTAGCTTAGCACACACACACACACACACACAGTCGATCGGCTAGGCTATTAGCGC",
        &[[24, 42], [58, 79]],
        &[[4, 87]],
    ),
    (
        "AAATAATAAATATAATATTAAATATTTATAAATCGGATCGCTACGCTAGCCCGCGGGCGCGCCCGGCGCGGGCGCCCATGCTAGCTTAGGGCATCGACTAGCGAGGAGG\
         AGGAAGAGGAGG",
        &[],
        &[[1, 120]],
    ),
    (
        "ACGACCGATNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN\
         NNNNNNNNNNNNNNNNNNNNNNNNNNCACATCGGAGAGAGANAGAGANAGAGRAGAGRRRRRRRRRRRRGATCG",
        &[[114, 121], [142, 177]],
        &[[1, 65], [114, 177]],
    ),
    ("NNNNCATCATCATCATNNCATCATGATTAGACTACGGCTAGTCCATGACTAGC", &[], &[[4, 23]]),
    (
        "TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTACGTAACGTACGACTAA\
         AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAGC",
        &[[0, 91], [107, 183]],
        &[[0, 183]],
    ),
];

fn codes(letters: &str) -> Vec<u8> {
    letters.bytes().map(|letter| blastna::from_ncbi4na(encode(letter).unwrap())).collect()
}

fn closed(masks: Vec<Range<u32>>) -> Vec<[u32; 2]> {
    masks.into_iter().map(|mask| [mask.start, mask.end - 1]).collect()
}

#[test]
fn masks_are_those_of_blastn() {
    let other = DustParams { level: 2, window: 8, linker: 32 };
    for (letters, by_default, by_other) in GOLDEN {
        let codes = codes(letters);
        assert_eq!(closed(mask(&codes, &DustParams::default())), by_default, "{letters}");
        assert_eq!(closed(mask(&codes, &other)), by_other, "{letters}");
    }
}

#[test]
fn values_out_of_range_are_replaced() {
    let default = DustParams::default();
    for [level, window, linker] in [[1, 7, 0], [65, 65, 33], [0, 200, u32::MAX]] {
        assert_eq!(DustParams { level, window, linker }.checked(), default);
    }
    for [level, window, linker] in [[2, 8, 1], [64, 64, 32]] {
        let params = DustParams { level, window, linker };
        assert_eq!(params.checked(), params);
    }
}

#[test]
fn what_holds_no_two_triplets_is_not_masked() {
    for length in 0..4 {
        assert_eq!(mask(&vec![0; length], &DustParams::default()), []);
    }
}

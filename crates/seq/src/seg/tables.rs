//! Tables for SEG: classes of residues, and logarithms of factorials and of small fractions.

use std::sync::LazyLock;

/// Number of standard residues.
pub(super) const CLASSES: usize = 20;
/// Class of all codes that are no standard residue.
pub(super) const BOGUS: u8 = CLASSES as u8;
/// Natural logarithm of 2, to convert entropies to bits (`ncbi_math.h`).
pub(super) const LN2: f64 = std::f64::consts::LN_2;

/// Class of each residue code: 0 to 19 in the order of the codes, or [`BOGUS`].
pub(super) const CLASS: [u8; 256] = {
    let mut table = [BOGUS; 256];
    let mut code = 0;
    let mut class = 0;
    while code < 256 {
        if crate::alphabet::is_standard(code as u8) {
            table[code] = class;
            class += 1;
        }
        code += 1;
    }
    table
};

/// Natural logarithms of k/10 as `blast_seg.c` rounds them. They are used for windows with ten
/// standard residues. The results of comparisons depend on these exact digits.
#[expect(clippy::approx_constant, reason = "the rounding decides comparisons")]
const LN_TENTHS: [f64; 11] = [
    0.0,
    -2.30258509,
    -1.60943791,
    -1.203982804,
    -0.91629073,
    -0.6931478,
    -0.510825623,
    -0.356674944,
    -0.22314355,
    -0.105360515,
    0.0,
];

/// Largest number whose factorial is in the table.
const FACTORIALS: usize = 10_000;

/// ln n! for n = 0 to 10000, in units of 10⁻⁶.
static LN_FACTORIALS: LazyLock<Vec<i64>> = LazyLock::new(|| {
    // Summation is compensated, because the sixth decimal must round like that of the exact value.
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    let mut table = vec![0];
    for n in 1..=FACTORIALS {
        let term = (n as f64).ln() - lost;
        let next = sum + term;
        lost = (next - sum) - term;
        sum = next;
        table.push((sum * 1e6).round() as i64);
    }
    table
});

/// Returns ln n! in units of 10⁻⁶, for estimates.
pub(super) fn ln_factorial_micros(n: usize) -> i64 {
    match LN_FACTORIALS.get(n) {
        Some(&micros) => micros,
        None => (ln_factorial(n) * 1e6).round() as i64,
    }
}

/// Returns ln n! as `blast_seg.c` has it: to six decimals up to 10000!, above by Stirling's
/// formula.
pub(super) fn ln_factorial(n: usize) -> f64 {
    match LN_FACTORIALS.get(n) {
        // Division rounds correctly, so the result is the double nearest to the six decimals.
        Some(&micros) => micros as f64 / 1e6,
        None => {
            let n = n as f64;
            (n + 0.5) * n.ln() - n + 0.9189385332
        }
    }
}

/// Returns the counts of the standard residues in falling order, and the number of nonzero counts.
pub(super) fn state_vector(counts: &[u32; CLASSES + 1]) -> ([u32; CLASSES], usize) {
    let mut state = [0; CLASSES];
    state.copy_from_slice(&counts[..CLASSES]);
    state.sort_unstable_by(|a, b| b.cmp(a));
    let used = state.iter().take_while(|&&count| count != 0).count();
    (state, used)
}

/// Returns the entropy in bits of counts in falling order without zeros.
pub(super) fn entropy(state: &[u32]) -> f64 {
    let total: u32 = state.iter().sum();
    if total == 0 {
        return 0.0;
    }
    let mut sum = 0.0;
    for &count in state {
        let log = match total {
            10 => LN_TENTHS[count as usize],
            _ => (f64::from(count) / f64::from(total)).ln(),
        };
        sum += f64::from(count) * log / LN2;
    }
    (sum / f64::from(total)).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factorials_have_six_decimals() {
        assert_eq!(ln_factorial(0), 0.0);
        assert_eq!(ln_factorial(3), 1.791759);
        assert_eq!(ln_factorial(5), 4.787492);
        assert_eq!(ln_factorial(10_000), 82108.927837);
        // This number is one above the table. Stirling's formula is close, but not rounded.
        assert!((ln_factorial(10_001) - 82118.138277).abs() < 1e-4);
    }

    #[test]
    fn ten_residues_use_the_rounded_logarithms() {
        assert_eq!(entropy(&[5, 5]), (2.0 * (5.0 * -0.6931478 / LN2) / 10.0f64).abs());
        assert_eq!(entropy(&[]), 0.0);
        assert_eq!(entropy(&[12]), 0.0);
    }
}

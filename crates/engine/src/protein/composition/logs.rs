//! Natural logarithms of many numbers at once.

/// ln 2 in two parts. The first has trailing zeros, so that its product with an exponent is exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Bits of 1/√2: mantissas range from there to √2.
const LEAST_MANTISSA: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();

/// 1.5·2⁵²: adding it puts a small integer into the lowest bits.
const SHIFTER: f64 = 6_755_399_441_055_744.0;

/// Coefficients 2/3, 2/5, ... of the series of 2 artanh, without its first coefficient.
const SERIES: [f64; 10] = {
    let mut series = [0.0; 10];
    let mut term = 0;
    while term < series.len() {
        series[term] = 2.0 / (2 * term + 3) as f64;
        term += 1;
    }
    series
};

/// Computes the ln of a positive normal number, within two units in the last place. It has no
/// branches, so that a loop over it can be vectorised.
#[inline(always)]
pub(super) fn ln_of_normal(x: f64) -> f64 {
    let above = x.to_bits().wrapping_sub(LEAST_MANTISSA) as i64;
    let exponent = above >> 52;
    let mantissa = f64::from_bits(x.to_bits().wrapping_sub((exponent << 52) as u64));
    let exponent = f64::from_bits(SHIFTER.to_bits().wrapping_add(exponent as u64)) - SHIFTER;
    // ln m = 2 artanh((m - 1)/(m + 1)).
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let z = s * s;
    // Written out in pairs: a loop here would prevent vectorising the caller's loop.
    let [c1, c2, c3, c4, c5, c6, c7, c8, c9, c10] = SERIES;
    let z2 = z * z;
    let low = (c1 + z * c2) + z2 * (c3 + z * c4);
    let middle = (c5 + z * c6) + z2 * (c7 + z * c8);
    let z4 = z2 * z2;
    let series = z * (low + z4 * (middle + z4 * (c9 + z * c10)));
    exponent * LN_2_HIGH + (2.0 * s + (s * series + exponent * LN_2_LOW))
}

/// Writes ln(x·factor) of each x to `out`. The three slices have the same length.
#[inline(always)]
pub(super) fn ln_of_products(x: &[f64], factor: &[f64], out: &mut [f64]) {
    let mut least = f64::INFINITY;
    for (out, (x, factor)) in out.iter_mut().zip(x.iter().zip(factor)) {
        *out = x * factor;
        least = if *out < least { *out } else { least };
    }
    if least >= f64::MIN_POSITIVE {
        out.iter_mut().for_each(|value| *value = ln_of_normal(*value));
    } else {
        out.iter_mut().for_each(|value| *value = value.ln());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ln_is_within_two_units_in_the_last_place() {
        let mut x = 1.0e-300;
        while x < 1.0e300 {
            let (got, want) = (ln_of_normal(x), x.ln());
            assert!(
                (got - want).abs() <= 2.0 * f64::EPSILON * want.abs(),
                "ln {x:e}: {got} {want}"
            );
            x *= 1.003_7;
        }
        for x in [
            1.0,
            1.0 + f64::EPSILON,
            1.0 - f64::EPSILON / 2.0,
            0.5,
            2.0,
            1.413,
            1.416,
            0.706,
            0.709,
        ] {
            let (got, want) = (ln_of_normal(x), x.ln());
            assert!((got - want).abs() <= 2.0 * f64::EPSILON * want.abs(), "ln {x}: {got} {want}");
        }
    }

    #[test]
    fn zero_and_subnormal_numbers_are_left_to_the_library() {
        let mut out = [0.0; 3];
        ln_of_products(&[0.0, 1.0e-310, 2.0], &[1.0, 1.0, 0.5], &mut out);
        assert_eq!(out, [f64::NEG_INFINITY, 1.0e-310_f64.ln(), 0.0]);
    }
}

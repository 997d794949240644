//! The exponential function with 64 bits (`expl`).

use std::f64::consts::LOG2_E;

use crate::extended::Extended;

/// Computes e^x for -700 < x ≤ 0, rounded to 64 bits.
pub(crate) fn exp(x: f64) -> Extended {
    let Sum { high, low } = Sum::exp(x);
    Extended::from_sum(high, low)
}

/// A number as the sum of two doubles, where the first one is the nearest double of the sum. It has
/// 106 bits.
#[derive(Clone, Copy, Debug)]
struct Sum {
    high: f64,
    low: f64,
}

/// Number of parts of an octave in the table of powers of 2.
const PARTS: usize = 64;
/// ln(2)/64 as a sum of two numbers of 32 bits, whose products with whole numbers are exact, and of
/// a remainder.
const LN_2_PART: [f64; 3] = [0.01083042469326756, 2.9815858263172973e-12, 6.679961858980702e-22];

impl Sum {
    /// Adds two numbers; `high` must not be smaller than `low`.
    fn from_ordered(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self { high: sum, low: low - (sum - high) }
    }

    /// Returns the product with a double.
    fn times(self, factor: f64) -> Self {
        let product = self.high * factor;
        let error = self.high.mul_add(factor, -product);
        Self::from_ordered(product, self.low.mul_add(factor, error))
    }

    /// Computes e^x for -700 < x ≤ 0, as 2^(n/64)·e^r with |r| ≤ ln(2)/128.
    fn exp(x: f64) -> Self {
        let n = (x * (PARTS as f64 * LOG2_E)).round();
        let [first, second, third] = LN_2_PART;
        // The difference is exact, because both numbers are near each other.
        let reduced = x - n * first;
        let rest = Self::two_sum(reduced, -n * second);
        let r = Self::from_ordered(rest.high, rest.low - n * third);
        // e^r - 1 = r + r²/2 + r³/6 + ...; from r³ on a double is exact enough.
        let square = r.times(r.high);
        let half = Self { high: square.high / 2.0, low: square.low / 2.0 + r.low * r.high / 2.0 };
        let h = r.high;
        let tail = h
            * h
            * h
            * (1.0 / 6.0 + h * (1.0 / 24.0 + h * (1.0 / 120.0 + h * (1.0 / 720.0 + h / 5040.0))));
        let sum = Self::two_sum(r.high, half.high);
        let less_one = Self::from_ordered(sum.high, sum.low + (r.low + half.low + tail));
        let (high, low) = POWERS[(n as i64).rem_euclid(PARTS as i64) as usize];
        let part = Self { high, low };
        let octave = (n as i64).div_euclid(PARTS as i64);
        let product = part.times(less_one.high);
        let high = Self::two_sum(part.high, product.high);
        let low = high.low + (part.low + product.low + part.high * less_one.low);
        let whole = Self::from_ordered(high.high, low);
        let scale = 2_f64.powi(octave as i32);
        Self { high: whole.high * scale, low: whole.low * scale }
    }

    /// Adds two numbers exactly.
    fn two_sum(a: f64, b: f64) -> Self {
        let sum = a + b;
        let b_part = sum - a;
        Self { high: sum, low: (a - (sum - b_part)) + (b - b_part) }
    }
}

/// The powers 2^(n/64) for n from 0 to 63, each as a sum of two doubles.
#[rustfmt::skip]
#[allow(clippy::approx_constant)]
const POWERS: [(f64, f64); PARTS] = [
    (1.0, 0.0),
    (1.0108892860517005, -1.5234778603368577e-17),
    (1.0218971486541166, 5.109225028973444e-17),
    (1.0330248790212284, 7.600838874027088e-18),
    (1.0442737824274138, 8.551889705537965e-17),
    (1.0556451783605572, 1.759325738772092e-18),
    (1.0671404006768237, -7.899853966841582e-17),
    (1.0787607977571199, -6.656660436056593e-17),
    (1.0905077326652577, -3.046782079812471e-17),
    (1.102382583307841, 5.2660368715706944e-17),
    (1.1143867425958924, 1.0410278456845571e-16),
    (1.1265216186082418, 5.165856758795457e-17),
    (1.1387886347566916, 8.912812676025408e-17),
    (1.1511892299529827, 3.250710218863827e-17),
    (1.1637248587775775, 3.8292048369240935e-17),
    (1.1763969916502812, 5.554203254218079e-17),
    (1.189207115002721, 3.982015231465646e-17),
    (1.202156731452703, 6.644981499252301e-17),
    (1.215247359980469, -7.712630692681488e-17),
    (1.22848053610687, -1.89878163130253e-17),
    (1.241857812073484, 4.658027591836937e-17),
    (1.255380757024691, -6.7113898212968784e-18),
    (1.2690509571917332, 2.667932131342186e-18),
    (1.2828700160787783, 1.713594918243561e-17),
    (1.2968395546510096, 2.5382502794888315e-17),
    (1.3109612115247644, -7.181536135519454e-17),
    (1.3252366431597413, -2.8587312100388614e-17),
    (1.339667524053303, 8.927282594831732e-17),
    (1.3542555469368927, 7.70094837980299e-17),
    (1.3690024229745905, 9.593797919118849e-17),
    (1.383909881963832, -6.770511658794786e-17),
    (1.3989796725383112, -9.614213209051323e-17),
    (1.4142135623730951, -9.667293313452913e-17),
    (1.42961333839197, -1.2031642489053655e-17),
    (1.4451808069770467, -3.0237581349939873e-17),
    (1.460917794180647, -5.600377186075216e-17),
    (1.4768261459394993, -3.483994556892796e-17),
    (1.4929077282912648, 1.4192920154284036e-17),
    (1.5091644275934228, -1.016455327754295e-16),
    (1.5255981507445384, -1.1024941712342561e-16),
    (1.5422108254079407, 7.949834809697621e-17),
    (1.559004400237837, 3.7812070533575275e-17),
    (1.5759808451078865, -1.0136916471278304e-17),
    (1.593142151342267, -1.0094406542311964e-16),
    (1.6104903319492543, 2.4707192569797888e-17),
    (1.6280274218573478, -6.712955084707084e-17),
    (1.645755478153965, -1.0125679913674773e-16),
    (1.6636765803267364, 5.8909926967131e-17),
    (1.681792830507429, 8.199010020581497e-17),
    (1.7001063537185235, -8.0237193703977e-18),
    (1.718619298122478, -1.851380418263111e-17),
    (1.7373338352737062, 3.164389299292957e-17),
    (1.7562521603732995, 2.960140695448873e-17),
    (1.7753764925265212, 6.429731796556572e-17),
    (1.7947090750031072, 1.8227458427912087e-17),
    (1.8142521755003989, -9.969531538920349e-17),
    (1.8340080864093424, 3.283107224245627e-17),
    (1.8539791250833855, 9.761887490727594e-17),
    (1.8741676341103, -6.122763413004143e-17),
    (1.8945759815869656, 3.4034035352165297e-17),
    (1.9152065613971474, -1.0619946056195963e-16),
    (1.9360617934922943, 1.0332385960676326e-16),
    (1.9571441241754002, 8.960767791036668e-17),
    (1.978456026387951, 4.0388753109278167e-17),
];

#[cfg(test)]
mod tests {
    use super::*;

    // Computed with Python's decimals: the nearest double of e^x, and the rest.
    #[test]
    fn powers_of_e_have_more_than_64_bits() {
        let known = [
            (-1.0, 0.367_879_441_171_442_33, -1.242_875_367_278_836_3e-17),
            (-0.5, 0.606_530_659_712_633_4, -6.593_178_415_491_414e-19),
            (-10.0, 4.539_992_976_248_485_4e-5, -2.637_554_055_327_531e-21),
        ];
        for (x, high, low) in known {
            let got = Sum::exp(x);
            assert_eq!(got.high, high, "{x}");
            assert!((got.low - low).abs() < 1e-20 * high, "{x}: {:e}, not {low:e}", got.low);
        }
    }

    #[test]
    fn powers_of_two_multiply() {
        for (n, &(high, low)) in POWERS.iter().enumerate() {
            let root = Sum { high, low };
            let square = root.times(high);
            let square = Sum::from_ordered(square.high, square.low + high * low);
            let (wanted, scale) = (POWERS[2 * n % PARTS], if 2 * n < PARTS { 1.0 } else { 2.0 });
            assert_eq!(square.high, wanted.0 * scale, "{n}");
            assert!((square.low - wanted.1 * scale).abs() < 1e-30, "{n}");
        }
    }
}

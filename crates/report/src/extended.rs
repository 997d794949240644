//! Floating-point numbers with a mantissa of 64 bits, like `long double` of x86 processors. NCBI's
//! toolkit computes decimal digits with them.

/// Powers of ten whose mantissa needs more than 64 bits: the decimal exponent, then mantissa and
/// binary exponent of the nearest number.
const ROUNDED: [(i32, u64, i32); 46] = [
    (-256, 0xc0314325637a193a, -914),
    (-240, 0xd5605fcdcf32e1d7, -861),
    (-224, 0xece53cec4a314ebe, -808),
    (-208, 0x8380dea93da4bc60, -754),
    (-192, 0x91ff83775423cc06, -701),
    (-176, 0xa21727db38cb0030, -648),
    (-160, 0xb3f4e093db73a093, -595),
    (-144, 0xc7caba6e7c5382c9, -542),
    (-128, 0xddd0467c64bce4a1, -489),
    (-112, 0xf64335bcf065d37d, -436),
    (-96, 0x88b402f7fd75539b, -382),
    (-80, 0x97c560ba6b0919a6, -329),
    (-64, 0xa87fea27a539e9a5, -276),
    (-48, 0xbb127c53b17ec159, -223),
    (-32, 0xcfb11ead453994ba, -170),
    (-16, 0xe69594bec44de15b, -117),
    (-15, 0x901d7cf73ab0acd9, -113),
    (-14, 0xb424dc35095cd80f, -110),
    (-13, 0xe12e13424bb40e13, -107),
    (-12, 0x8cbccc096f5088cc, -103),
    (-11, 0xafebff0bcb24aaff, -100),
    (-10, 0xdbe6fecebdedd5bf, -97),
    (-9, 0x89705f4136b4a597, -93),
    (-8, 0xabcc77118461cefd, -90),
    (-7, 0xd6bf94d5e57a42bc, -87),
    (-6, 0x8637bd05af6c69b6, -83),
    (-5, 0xa7c5ac471b478423, -80),
    (-4, 0xd1b71758e219652c, -77),
    (-3, 0x83126e978d4fdf3b, -73),
    (-2, 0xa3d70a3d70a3d70a, -70),
    (-1, 0xcccccccccccccccd, -67),
    (32, 0x9dc5ada82b70b59e, 43),
    (48, 0xaf298d050e4395d7, 96),
    (64, 0xc2781f49ffcfa6d5, 149),
    (80, 0xd7e77a8f87daf7fc, 202),
    (96, 0xefb3ab16c59b14a3, 255),
    (112, 0x850fadc09923329e, 309),
    (128, 0x93ba47c980e98ce0, 362),
    (144, 0xa402b9c5a8d3a6e7, 415),
    (160, 0xb616a12b7fe617aa, 468),
    (176, 0xca28a291859bbf93, 521),
    (192, 0xe070f78d3927556b, 574),
    (208, 0xf92e0c3537826146, 627),
    (224, 0x8a5296ffe33cc930, 681),
    (240, 0x9991a6f3d6bf1766, 734),
    (256, 0xaa7eebfb9df9de8e, 787),
];
/// Exponent of the largest power of ten that a mantissa of 64 bits holds exactly.
const EXACT: i32 = 27;

/// A positive number: `mantissa` times 2 to the power of `exponent`. The highest bit of the
/// mantissa is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExtendedFloat {
    exponent: i32,
    mantissa: u64,
}

impl ExtendedFloat {
    /// Returns a power of ten, for an exponent from 0 to [`EXACT`] or one of [`ROUNDED`].
    fn power(exponent: i32) -> Self {
        match ROUNDED.iter().find(|row| row.0 == exponent) {
            Some(&(_, mantissa, exponent)) => Self { exponent, mantissa },
            None => Self::from_digits(10_u128.pow(exponent.clamp(0, EXACT) as u32), 0),
        }
    }

    /// Returns the number nearest to `digits` times 2 to the power of `exponent`. Of two equally
    /// near ones it returns that with an even mantissa. `digits` must not be 0.
    fn from_digits(digits: u128, exponent: i32) -> Self {
        let shift = digits.leading_zeros();
        let aligned = digits << shift;
        let (kept, rest) = ((aligned >> 64) as u64, aligned as u64);
        let half = 1 << 63;
        let up = rest > half || rest == half && kept & 1 == 1;
        let exponent = exponent + 64 - shift as i32;
        match kept.checked_add(u64::from(up)) {
            Some(mantissa) => Self { exponent, mantissa },
            None => Self { exponent: exponent + 1, mantissa: half },
        }
    }

    /// Converts a positive double.
    fn from_double(value: f64) -> Self {
        let bits = value.to_bits();
        let (exponent, fraction) = ((bits >> 52) as i32 & 0x7ff, bits & ((1 << 52) - 1));
        match exponent {
            0 => Self::from_digits(u128::from(fraction), -1074),
            _ => Self::from_digits(u128::from(fraction | 1 << 52), exponent - 1075),
        }
    }

    fn times(self, other: Self) -> Self {
        let digits = u128::from(self.mantissa) * u128::from(other.mantissa);
        Self::from_digits(digits, self.exponent + other.exponent)
    }

    /// Splits the number into its whole part, which must be below 2^63, and its fraction; `None` if
    /// the fraction is 0.
    fn parts(self) -> (u64, Option<Self>) {
        let places = -self.exponent;
        if places >= 64 {
            return (0, Some(self));
        }
        let whole = self.mantissa >> places;
        let rest = self.mantissa - (whole << places);
        (whole, (rest > 0).then(|| Self::from_digits(u128::from(rest), self.exponent)))
    }
}

/// Returns the first seventeen decimal digits of a positive double, and the decimal exponent of the
/// first digit. Intermediate products are rounded, as in `NStr::DoubleToString_Ecvt` (ncbistr.cpp).
pub fn decimal_digits(value: f64) -> (Vec<u8>, i32) {
    let (scaled, exponent) = scaled(ExtendedFloat::from_double(value));
    let limit = |power: i32| 10_u64.pow(power as u32);
    let (whole, rest) = scaled.parts();
    let (first, second) = if whole >= limit(9) {
        (limit(9) - 1, limit(8) - 1)
    } else if whole < limit(8) {
        (limit(8), 0)
    } else {
        let more = rest.map_or(0, |rest| rest.times(ExtendedFloat::power(8)).parts().0);
        (whole, more.min(limit(8) - 1))
    };
    (format!("{first:09}{second:08}").into_bytes(), exponent)
}

/// Scales the number by a power of ten so that it has nine digits before its point. Also returns
/// the decimal exponent of its first digit.
fn scaled(mut value: ExtendedFloat) -> (ExtendedFloat, i32) {
    let one = ExtendedFloat::power(0);
    // Large numbers are multiplied by negative powers of ten, small numbers by positive ones.
    let sign = if value >= one { 1 } else { -1 };
    let beyond = |value: ExtendedFloat, power: i32| match sign {
        1 => value >= ExtendedFloat::power(power),
        _ => value <= ExtendedFloat::power(-power),
    };
    let mut exponent = 0;
    while beyond(value, 256) {
        value = value.times(ExtendedFloat::power(-sign * 256));
        exponent += sign * 256;
    }
    if let Some(power) = (1..16).rev().map(|step| 16 * step).find(|&power| beyond(value, power)) {
        value = value.times(ExtendedFloat::power(-sign * power));
        exponent += sign * power;
    }
    let below = |power: i32| value < ExtendedFloat::power(power);
    let first = match sign {
        1 => (-1..16).find(|&power| below(power + 1)).unwrap_or(16),
        _ => (-16..0).find(|&power| below(power + 1)).unwrap_or(0),
    };
    (value.times(ExtendedFloat::power(8 - first)), exponent + first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: results of NCBI's code, compiled with `long double` of 80 bits.
    #[test]
    fn digits_are_those_of_products_that_are_rounded() {
        for (value, text, exponent) in [
            (1.0, "10000000000000000", 0),
            (0.1, "10000000000000000", -1),
            (14_999_999_999_992_350.0, "14999999999992349", 16),
            (567_106_924.0, "56710692400000000", 8),
            (f64::MAX, "17976931348623157", 308),
            (5e-324, "49406564584124654", -324),
        ] {
            let expected = (text.as_bytes().to_vec(), exponent);
            assert_eq!(decimal_digits(value), expected, "{value:e}");
        }
    }
}

//! Numbers with 64 bits, like C's `long double` of x86, which Rust does not have. BLAST+ computes
//! some values with them, and the decimal digits of others.

/// A positive number or 0: a mantissa of 64 bits times a power of 2. The first bit of the mantissa
/// is set unless the number is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extended {
    // Numbers compare by their fields in this order.
    exponent: i32,
    mantissa: u64,
}

impl From<f64> for Extended {
    /// Converts a number that is neither negative nor infinite.
    fn from(value: f64) -> Self {
        let bits = value.to_bits();
        let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52) as i32);
        match exponent {
            0 => Self::new(fraction.into(), -1074),
            exponent => Self::new(u128::from(fraction | 1 << 52), exponent - 1075),
        }
    }
}

impl Extended {
    /// Rounds a product to 64 bits, a tie to the even number.
    fn new(mantissa: u128, exponent: i32) -> Self {
        let bits = 128 - mantissa.leading_zeros() as i32;
        if bits <= 64 {
            let shift = mantissa.leading_zeros().saturating_sub(64);
            return match mantissa {
                0 => Self { exponent: i32::MIN, mantissa: 0 },
                _ => {
                    Self { exponent: exponent - shift as i32, mantissa: (mantissa as u64) << shift }
                }
            };
        }
        let excess = bits - 64;
        let (kept, rest) = (mantissa >> excess, mantissa & ((1 << excess) - 1));
        let half = 1 << (excess - 1);
        let up = rest > half || rest == half && kept & 1 == 1;
        match u64::try_from(kept + u128::from(up)) {
            Ok(mantissa) => Self { exponent: exponent + excess, mantissa },
            Err(_) => Self { exponent: exponent + excess + 1, mantissa: 1 << 63 },
        }
    }

    /// Returns the number nearest to a power of ten whose exponent is from -16 to 27, or a multiple
    /// of 16 from -256 to 256.
    pub fn power_of_ten(exponent: i32) -> Self {
        match ROUNDED.iter().find(|row| row.0 == exponent) {
            Some(&(_, mantissa, exponent)) => Self { exponent, mantissa },
            None => Self::new(10_u128.pow(exponent.clamp(0, EXACT) as u32), 0),
        }
    }

    /// Rounds the sum of a positive number and a much smaller number to 64 bits.
    pub(crate) fn from_sum(high: f64, low: f64) -> Self {
        let exact = Self::from(high);
        // The last of the 64 bits of `high` counts 2^exponent.
        let half = exact.exponent / 2;
        let units = low * 2_f64.powi(-half) * 2_f64.powi(half - exact.exponent);
        let mantissa = i128::from(exact.mantissa) + units.round_ties_even() as i128;
        Self::new(mantissa.unsigned_abs(), exact.exponent)
    }

    /// Returns the nearest double. Numbers below the normal doubles become 0.
    pub fn to_f64(self) -> f64 {
        let (kept, rest) = (self.mantissa >> 11, self.mantissa & 0x7ff);
        let up = rest > 0x400 || rest == 0x400 && kept & 1 == 1;
        match self.exponent {
            exponent if exponent < -1022 - 63 => 0.0,
            // 2^1023 is the largest power of 2 among doubles, and 2^-1022 the least normal one.
            exponent => {
                (kept + u64::from(up)) as f64
                    * 2_f64.powi(exponent / 2 + 11)
                    * 2_f64.powi(exponent - exponent / 2)
            }
        }
    }

    /// Returns the quotient by a number that is not 0, rounded to 64 bits.
    pub fn divided_by(self, divisor: Self) -> Self {
        let (dividend, divisor_mantissa) =
            (u128::from(self.mantissa) << 64, u128::from(divisor.mantissa));
        let (quotient, rest) = (dividend / divisor_mantissa, dividend % divisor_mantissa);
        // A last bit below the quotient stands for the rest.
        let exponent = self.exponent - divisor.exponent - 64 - 1;
        Self::new(quotient << 1 | u128::from(rest > 0), exponent)
    }

    /// Returns the product, rounded to 64 bits.
    pub fn times(self, factor: Self) -> Self {
        if self.mantissa == 0 || factor.mantissa == 0 {
            return Self::new(0, 0);
        }
        let product = u128::from(self.mantissa) * u128::from(factor.mantissa);
        Self::new(product, self.exponent + factor.exponent)
    }

    /// Returns the whole part, which is below 2^63, and the rest.
    pub fn split(self) -> (u64, Self) {
        match u32::try_from(self.exponent.saturating_neg()) {
            Ok(shift @ 1..=63) => {
                let rest = self.mantissa & ((1 << shift) - 1);
                (self.mantissa >> shift, Self::new(rest.into(), self.exponent))
            }
            _ => (0, self),
        }
    }
}

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

//! Vector extensions in plain Rust, of which the compiler makes what vector instructions there are.

use super::vector::{Cells, LANES, NEVER, Row, SECTION};

/// A row in memory.
#[derive(Clone, Copy)]
pub(super) struct Plain(Cells);

impl Row for Plain {
    #[inline(always)]
    fn splat(byte: i8) -> Self {
        Plain([byte; LANES])
    }

    #[inline(always)]
    fn load(cells: &Cells) -> Self {
        Plain(*cells)
    }

    #[inline(always)]
    fn store(self) -> Cells {
        self.0
    }

    #[inline(always)]
    fn look_up(table: &[i8; 32], codes: &[u8; LANES]) -> Self {
        Plain(codes.map(|code| table[(code & 31) as usize]))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        zip(self, other, i8::saturating_add)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        zip(self, other, i8::saturating_sub)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        zip(self, other, i8::max)
    }

    #[inline(always)]
    fn above(self, other: Self) -> u128 {
        bits(zip(self, other, |a, b| i8::from(a > b)))
    }

    #[inline(always)]
    fn keep(self, floor: Self) -> (Self, u128) {
        let kept = zip(self, floor, |a, b| if a < b { NEVER } else { a });
        (kept, bits(zip(self, floor, |a, b| i8::from(a >= b))))
    }

    #[inline(always)]
    fn select(self, lanes: u128) -> Self {
        let mut out = self.0;
        for (i, lane) in out.iter_mut().enumerate() {
            *lane = if lanes >> i & 1 == 0 { NEVER } else { *lane };
        }
        Plain(out)
    }

    #[inline(always)]
    fn up<const BY: usize>(self) -> Self {
        self.by_section(|section| {
            let mut out = [NEVER; SECTION];
            out[BY..].copy_from_slice(&section[..SECTION - BY]);
            out
        })
    }

    #[inline(always)]
    fn down(self) -> Self {
        let mut out = [NEVER; LANES];
        out[..LANES - 1].copy_from_slice(&self.0[1..]);
        Plain(out)
    }

    #[inline(always)]
    fn spread_ends(self) -> Self {
        self.by_section(|section| [section[SECTION - 1]; SECTION])
    }

    #[inline(always)]
    fn sections_up<const BY: usize>(self) -> Self {
        let mut out = [NEVER; LANES];
        out[BY * SECTION..].copy_from_slice(&self.0[..LANES - BY * SECTION]);
        Plain(out)
    }
}

impl Plain {
    #[inline(always)]
    fn by_section(self, f: impl Fn(&[i8; SECTION]) -> [i8; SECTION]) -> Self {
        let mut out = self.0;
        for section in out.as_chunks_mut().0 {
            *section = f(section);
        }
        Plain(out)
    }
}

#[inline(always)]
fn zip(a: Plain, b: Plain, f: impl Fn(i8, i8) -> i8) -> Plain {
    let mut out = a.0;
    for (a, b) in out.iter_mut().zip(b.0) {
        *a = f(*a, b);
    }
    Plain(out)
}

/// The bits of bytes that are zero or one.
#[inline(always)]
fn bits(row: Plain) -> u128 {
    let (words, _) = row.0.as_chunks();
    words.iter().rev().fold(0, |bits, word| {
        // The product gathers the low bits of eight bytes in the highest byte.
        let gathered =
            u64::from_le_bytes(word.map(|byte| byte as u8)).wrapping_mul(0x0102_0408_1020_4080);
        bits << 8 | u128::from(gathered >> 56)
    })
}

//! Transposes bytes: from one row for each lane to one row for each position.

/// Number of lanes, and of positions in each.
pub(super) const SIZE: usize = 64;
/// Number of bytes in a register; also of rows and columns in a tile.
const TILE: usize = 16;

/// Transposes a matrix of bytes.
pub(super) fn transpose(from: &[[u8; SIZE]; SIZE], to: &mut [[u8; SIZE]; SIZE]) {
    for row in (0..SIZE).step_by(TILE) {
        for column in (0..SIZE).step_by(TILE) {
            let tile = transpose_tile(std::array::from_fn(|i| {
                registers::load(&from[row + i].as_chunks().0[column / TILE])
            }));
            for (i, &line) in tile.iter().enumerate() {
                registers::store(&mut to[column + i].as_chunks_mut().0[row / TILE], line);
            }
        }
    }
}

/// Transposes a tile in four steps. Each step interleaves each row with the row half the tile away.
#[inline(always)]
fn transpose_tile(mut tile: [registers::Line; TILE]) -> [registers::Line; TILE] {
    for _ in 0..4 {
        tile = std::array::from_fn(|i| {
            let (a, b) = (tile[i / 2], tile[i / 2 + TILE / 2]);
            if i % 2 == 0 { registers::first_halves(a, b) } else { registers::last_halves(a, b) }
        });
    }
    tile
}

#[cfg(target_arch = "x86_64")]
mod registers {
    //! Registers of SSE2, which all x86-64 CPUs have.
    #![allow(unsafe_code)]

    use std::arch::x86_64::*;

    use super::TILE;

    /// Bytes of a row.
    pub(super) type Line = __m128i;

    #[inline(always)]
    pub(super) fn load(from: &[u8; TILE]) -> Line {
        // SAFETY: all x86-64 CPUs have SSE2; the load is of 16 bytes and needs no alignment.
        unsafe { _mm_loadu_si128(from.as_ptr().cast()) }
    }

    #[inline(always)]
    pub(super) fn store(to: &mut [u8; TILE], line: Line) {
        // SAFETY: all x86-64 CPUs have SSE2; the store is of 16 bytes and needs no alignment.
        unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), line) }
    }

    /// Interleaves the first halves of two rows.
    #[inline(always)]
    pub(super) fn first_halves(a: Line, b: Line) -> Line {
        // SAFETY: all x86-64 CPUs have SSE2.
        unsafe { _mm_unpacklo_epi8(a, b) }
    }

    /// Interleaves the last halves of two rows.
    #[inline(always)]
    pub(super) fn last_halves(a: Line, b: Line) -> Line {
        // SAFETY: all x86-64 CPUs have SSE2.
        unsafe { _mm_unpackhi_epi8(a, b) }
    }
}

#[cfg(target_arch = "aarch64")]
mod registers {
    //! Registers of NEON.

    pub(super) use crate::neon::{
        load_u8 as load, store_u8 as store, uint8x16_t as Line, vzip1q_u8 as first_halves,
        vzip2q_u8 as last_halves,
    };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod registers {
    //! Arrays in place of registers, for other CPUs.

    use super::TILE;

    /// Bytes of a row.
    pub(super) type Line = [u8; TILE];

    pub(super) fn load(from: &[u8; TILE]) -> Line {
        *from
    }

    pub(super) fn store(to: &mut [u8; TILE], line: Line) {
        *to = line;
    }

    /// Interleaves the first halves of two rows.
    pub(super) fn first_halves(a: Line, b: Line) -> Line {
        std::array::from_fn(|i| if i % 2 == 0 { a[i / 2] } else { b[i / 2] })
    }

    /// Interleaves the last halves of two rows.
    pub(super) fn last_halves(a: Line, b: Line) -> Line {
        std::array::from_fn(|i| if i % 2 == 0 { a[TILE / 2 + i / 2] } else { b[TILE / 2 + i / 2] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let byte = |row: usize, column: usize| (row * 7 + column * 13 + row * column) as u8;
        let from: [[u8; SIZE]; SIZE] =
            std::array::from_fn(|row| std::array::from_fn(|column| byte(row, column)));
        let mut to = [[0; SIZE]; SIZE];
        transpose(&from, &mut to);
        for (column, line) in to.iter().enumerate() {
            assert_eq!(line, &std::array::from_fn::<u8, SIZE, _>(|row| byte(row, column)));
        }
    }
}

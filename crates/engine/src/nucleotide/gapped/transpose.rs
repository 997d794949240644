//! Transposes bytes: from one row for each lane to one row for each position.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

/// Number of lanes, and of positions in each.
pub(super) const SIZE: usize = 64;
/// Number of bytes in a register.
const TILE: usize = 16;

/// Transposes a matrix of bytes.
pub(super) fn transpose(from: &[[u8; SIZE]; SIZE], to: &mut [[u8; SIZE]; SIZE]) {
    for row in (0..SIZE).step_by(TILE) {
        for column in (0..SIZE).step_by(TILE) {
            // SAFETY: all x86-64 CPUs have SSE2; the loads and stores are of 16 bytes within a row,
            // as both numbers are multiples of 16 below 64, and need no alignment.
            unsafe {
                let load = |i: usize| _mm_loadu_si128(from[row + i][column..].as_ptr().cast());
                let tile = transpose_tile(std::array::from_fn(load));
                for (i, &line) in tile.iter().enumerate() {
                    _mm_storeu_si128(to[column + i][row..].as_mut_ptr().cast(), line);
                }
            }
        }
    }
}

/// Transposes a tile in four steps. Each step interleaves each row with the row half the tile away.
#[inline(always)]
fn transpose_tile(mut tile: [__m128i; TILE]) -> [__m128i; TILE] {
    for _ in 0..4 {
        tile = std::array::from_fn(|i| {
            let (a, b) = (tile[i / 2], tile[i / 2 + TILE / 2]);
            // SAFETY: all x86-64 CPUs have SSE2.
            unsafe { if i % 2 == 0 { _mm_unpacklo_epi8(a, b) } else { _mm_unpackhi_epi8(a, b) } }
        });
    }
    tile
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

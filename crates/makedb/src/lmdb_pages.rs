//! Spare bytes of LMDB pages, which depend on the version of LMDB.
//!
//! When a key gets its second value, LMDB makes a small page of both inside the node, with space
//! for two more. LMDB 0.9.24, the version of BLAST+ 2.12.0, leaves a copy of the first value in the
//! first free slot; later versions do not. No reader uses it, but it is part of the file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Number of bytes of a page.
const PAGE: usize = 4096;
/// Number of bytes of the header of a page. [`NODE_HEADER`] is that of a node.
const PAGE_HEADER: usize = 16;
const NODE_HEADER: usize = 8;
/// Maximum length of a key in bytes.
const MAX_KEY: usize = 511;
/// Size of a small page with space for four values of four bytes.
const SMALL: usize = PAGE_HEADER + 16;
/// The second half of the header of a small page with two values: size of a value, flags, and the
/// lower and the upper end of the free space.
const TWO_VALUES: [u8; 8] = [4, 0, 0x72, 0, 20, 0, 28, 0];

/// Writes the spare bytes of LMDB 0.9.24 to all pages of a file, which was just written with
/// four-byte values.
pub(crate) fn restore_spare_bytes(file: &File) -> io::Result<()> {
    let pages = file.metadata()?.len() / PAGE as u64;
    let mut page = [0; PAGE];
    // The first two pages have no nodes.
    for number in 2..pages {
        let at = number * PAGE as u64;
        file.read_exact_at(&mut page, at)?;
        if restore(&mut page) {
            file.write_all_at(&page, at)?;
        }
    }
    Ok(())
}

/// Restores the spare bytes of a page; returns whether there were any. It finds small pages by
/// their headers, so it also restores old contents in the free part of the page.
fn restore(page: &mut [u8; PAGE]) -> bool {
    let found: Vec<usize> = memchr::memmem::find_iter(&page[..], &TWO_VALUES)
        .filter_map(|at| at.checked_sub(PAGE_HEADER - TWO_VALUES.len()))
        .filter(|&start| start + SMALL <= PAGE && follows_key(page, start))
        .collect();
    for &start in &found {
        let values = start + PAGE_HEADER;
        page.copy_within(values..values + 4, values + 8);
    }
    !found.is_empty()
}

/// Returns whether a small page belongs to a node: a key, and a header with its size, precede it.
fn follows_key(page: &[u8; PAGE], start: usize) -> bool {
    (1..=MAX_KEY).any(|key| {
        let Some(node) = start.checked_sub(key + NODE_HEADER) else { return false };
        let header = [SMALL as u16, 0, 4, key as u16].map(u16::to_le_bytes).concat();
        page[node..node + NODE_HEADER] == header
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_pages_of_two_values_change() {
        let mut page = [0; PAGE];
        let node = [
            &[32, 0, 0, 0, 4, 0, 3, 0][..],
            b"KEY",
            &[9, 0, 0, 0, 0, 0, 0, 0],
            &TWO_VALUES,
            &[1, 2, 3, 4, 5, 6, 7, 8],
        ]
        .concat();
        page[100..100 + node.len()].copy_from_slice(&node);
        page[300..316].copy_from_slice(&node[node.len() - 16..]);
        let before = page;
        assert!(restore(&mut page));
        assert_eq!(page[135..139], [1, 2, 3, 4]);
        page[135..139].fill(0);
        assert!(page == before);
        page[131] ^= 1;
        page[100] = 48;
        assert!(!restore(&mut page));
    }
}

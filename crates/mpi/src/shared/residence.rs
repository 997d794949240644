//! Reads the kernel's information about the pages of a range of memory.

use std::ops::Range;

/// Pages of a range of memory. Whole mappings are counted, which can be a little longer than the
/// range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageStatistics {
    /// Number of bytes that are in memory and mapped by this process.
    pub resident: u64,
    /// Number of these bytes that are on huge pages.
    pub huge: u64,
    /// Inode of the file behind the memory. Ranks with the same inode share the memory. It is 0 for
    /// memory of one process.
    pub inode: u64,
}

impl PageStatistics {
    /// Measures the pages of `bytes`: adds up all mappings that overlap them. Returns `None` if the
    /// system does not provide the information.
    pub fn measure(bytes: &[u8]) -> Option<Self> {
        let text = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let start = bytes.as_ptr() as u64;
        Some(parse(&text, start..start + bytes.len() as u64))
    }
}

/// Adds up the mappings of a `smaps` text (`proc(5)`) that overlap a range of addresses.
fn parse(text: &str, range: Range<u64>) -> PageStatistics {
    let mut sum = PageStatistics::default();
    let mut inside = false;
    for line in text.lines() {
        if let Some((span, inode)) = mapping(line) {
            inside = span.start < range.end && range.start < span.end;
            if inside {
                sum.inode = inode;
            }
        } else if inside && let Some((key, bytes)) = entry(line) {
            match key {
                "Rss" => sum.resident += bytes,
                "AnonHugePages" | "ShmemPmdMapped" => sum.huge += bytes,
                // The entry `Rss` does not count reserved huge pages.
                "Shared_Hugetlb" | "Private_Hugetlb" => {
                    sum.resident += bytes;
                    sum.huge += bytes;
                }
                _ => {}
            }
        }
    }
    sum
}

/// Parses the first line of a mapping: its addresses and its inode.
fn mapping(line: &str) -> Option<(Range<u64>, u64)> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let address = |text| u64::from_str_radix(text, 16).ok();
    let span = address(start)?..address(end)?;
    Some((span, words.nth(3)?.parse().ok()?))
}

/// Parses a line like `Rss:    4 kB`: its name, and its value in bytes.
fn entry(line: &str) -> Option<(&str, u64)> {
    let (key, rest) = line.split_once(':')?;
    let kilobytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some((key, kilobytes.saturating_mul(1024)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
7f0000000000-7f0000400000 rw-s 00000000 00:01 1234                       /memfd:x (deleted)
Size:               4096 kB
KernelPageSize:        4 kB
Rss:                4096 kB
ShmemPmdMapped:     2048 kB
VmFlags: rd wr sh mr mw me ms
7f0000400000-7f0000800000 rw-s 00400000 00:01 1234                       /memfd:x (deleted)
Rss:                 100 kB
Shared_Hugetlb:     2048 kB
7f0000800000-7f0000900000 rw-p 00000000 00:00 0
Rss:                  40 kB
AnonHugePages:        32 kB
";

    #[test]
    fn mappings_of_the_range_are_added_up() {
        let kb = |resident: u64, huge: u64, inode| PageStatistics {
            resident: resident << 10,
            huge: huge << 10,
            inode,
        };
        assert_eq!(parse(SMAPS, 0x7f0000000010..0x7f0000000020), kb(4096, 2048, 1234));
        assert_eq!(parse(SMAPS, 0x7f0000000000..0x7f0000800000), kb(6244, 4096, 1234));
        assert_eq!(parse(SMAPS, 0x7f0000800000..0x7f0000800001), kb(40, 32, 0));
        assert_eq!(parse(SMAPS, 0..1), PageStatistics::default());
        assert_eq!(parse("7f-zz rw\nRss: many kB\n:\n", 0..u64::MAX), PageStatistics::default());
    }

    #[test]
    fn memory_in_use_is_resident() {
        let bytes = vec![1u8; 1 << 20];
        let found = PageStatistics::measure(&bytes).unwrap();
        assert!(found.resident >= 1 << 20 && found.inode == 0, "{found:?}");
    }
}

//! Queries the kernel about mapped memory, and advises it about future use.

use std::ops::Range;

use rustix::mm::{Advice, madvise};

/// Pages are at least this large everywhere, and their sizes are multiples of it.
const SMALLEST_PAGE: usize = 4096;
/// Number of bytes to announce at a time: the kernel limits an announcement to the maximal request
/// of the device, which is at least this.
pub(crate) const STEP: usize = 1 << 20;
/// From this version on, Linux reads 2 MB at each fault of a mapping with huge pages, whatever the
/// read-ahead, and twice that ahead of a sequential reader.
const READS_HUGE_PAGES: (u32, u32) = (5, 18);

/// The future use of memory. None of these changes the contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Random access: a fault need not read ahead.
    Random,
    /// Access soon: missing pages can be read in the background.
    Soon,
}

/// Advises the kernel how `bytes` will be used. The kernel may ignore it.
pub(crate) fn advise(bytes: &[u8], usage: Use) {
    let pages = pages(bytes);
    if pages.is_empty() {
        return;
    }
    let advice = match usage {
        Use::Random => Advice::Random,
        Use::Soon => Advice::WillNeed,
    };
    // SAFETY: neither advice changes contents, protection or lifetime of any page, whatever else
    // lies on the pages that `bytes` begins and ends in.
    let taken = unsafe { madvise(pages.start as *mut _, pages.len(), advice) };
    // It does no harm if the kernel refuses, as for memory that is no mapping of a file.
    let _ = taken;
}

/// Requests 2 MB pages for `bytes`, a mapped file. If the page cache of the file system has them,
/// filling it takes a twentieth of the kernel's work. Returns true if faults then read that much,
/// so that nothing need be [announced](announce); announcements read into small pages.
pub(crate) fn prefer_large_pages(bytes: &[u8]) -> bool {
    let pages = pages(bytes);
    if pages.is_empty() {
        return true;
    }
    let version = rustix::system::uname().release().to_str().ok().and_then(version);
    version.is_some_and(|version| version >= READS_HUGE_PAGES)
        // SAFETY: this advice changes the size of the pages that hold the file's bytes, not the
        // bytes.
        && unsafe { madvise(pages.start as *mut _, pages.len(), Advice::LinuxHugepage) }.is_ok()
}

/// The first two numbers of a kernel's release, such as 6.1 of `6.1.0-25-amd64`.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse());
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Announces access to all of `bytes`, a mapped file. Returns at once.
pub(crate) fn announce(bytes: &[u8]) {
    bytes.chunks(STEP).for_each(|step| advise(step, Use::Soon));
}

/// Waits until `bytes`, a mapped file, are in memory, and maps their pages, so that access does not
/// fault. Returns false if the kernel cannot do that (before Linux 5.14), or could not read them.
pub(crate) fn populate(bytes: &[u8]) -> bool {
    let pages = pages(bytes);
    // SAFETY: this advice maps pages of the file as reading them would, and changes nothing else;
    // what cannot be read is an error, not a signal.
    pages.is_empty()
        || unsafe { madvise(pages.start as *mut _, pages.len(), Advice::LinuxPopulateRead) }.is_ok()
}

/// The number of `bytes` in memory, to the precision of pages; `None` if the system does not
/// provide it. For mapped files it is the share in the page cache.
pub fn resident_bytes(bytes: &[u8]) -> Option<usize> {
    let span = pages(bytes);
    let page = rustix::param::page_size();
    let mut flags = vec![0u8; span.len().div_ceil(page)];
    // SAFETY: the range is that of pages which hold `bytes`, so it is mapped, and `flags` has a
    // byte for each of them.
    let answer = unsafe { libc::mincore(span.start as *mut _, span.len(), flags.as_mut_ptr()) };
    if answer != 0 {
        return None;
    }
    let missing = flags.iter().filter(|&&flag| flag & 1 == 0).count();
    Some(bytes.len().saturating_sub(missing * page))
}

/// Addresses of the pages that hold `bytes`.
fn pages(bytes: &[u8]) -> Range<usize> {
    let page = rustix::param::page_size().max(SMALLEST_PAGE);
    let start = bytes.as_ptr() as usize;
    start / page * page..(start + bytes.len()).div_ceil(page) * page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_kernels() {
        assert_eq!(version("6.1.0-25-amd64"), Some((6, 1)));
        assert_eq!(version("5.18-rc3"), Some((5, 18)));
        assert_eq!(version("10.20"), Some((10, 20)));
        assert_eq!(version("next"), None);
        assert_eq!(version("6"), None);
    }
}

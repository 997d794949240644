//! Asks the operating system which pages of mapped memory are present, and announces future access.

use std::ops::Range;

use rustix::mm::{Advice, madvise};

/// Lower bound of the page size on all systems; page sizes are multiples of it.
const SMALLEST_PAGE: usize = 4096;
/// Number of bytes to announce at a time. Linux cuts an announcement to the maximal request of the
/// device, which is at least this large.
pub(crate) const ANNOUNCE_BYTES: usize = 1 << 20;
/// First Linux version in which a page fault in a mapping with huge pages reads 2 MB, whatever the
/// read-ahead is set to. A sequential reader also gets twice that in advance.
const READS_HUGE_PAGES: (u32, u32) = (5, 18);

/// The expected kind of access to memory. Advice about it never changes the contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessPattern {
    /// Random access, for which read-ahead is useless.
    Random,
    /// Access soon: the system can read missing pages in the background.
    Soon,
}

/// Advises the system how the program will access `bytes`. The system may ignore the advice.
pub(crate) fn advise(bytes: &[u8], usage: AccessPattern) {
    let pages = pages(bytes);
    if pages.is_empty() {
        return;
    }
    let advice = match usage {
        AccessPattern::Random => Advice::Random,
        AccessPattern::Soon => Advice::WillNeed,
    };
    // SAFETY: neither advice changes contents, protection or lifetime of any page, whatever else
    // lies on the pages that `bytes` begins and ends in.
    let taken = unsafe { madvise(pages.start as *mut _, pages.len(), advice) };
    // A refusal does no harm: the system refuses memory that is not a mapping of a file.
    let _ = taken;
}

/// Requests pages of 2 MB for `bytes`, a mapped file. If the page cache of the file system supports
/// them, filling it takes a twentieth of the system time that small pages take. Returns true if
/// page faults then read 2 MB. In this case, do not call [`announce_access`]: announcements read
/// small pages.
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

/// Parses the first two numbers of a Linux release, such as 6.1 of `6.1.0-25-amd64`.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse());
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// Announces access to all of `bytes`, a mapped file, and returns at once.
pub(crate) fn announce_access(bytes: &[u8]) {
    bytes.chunks(ANNOUNCE_BYTES).for_each(|step| advise(step, AccessPattern::Soon));
}

/// Reads `bytes`, a mapped file, into memory and maps their pages, so that access does not fault.
/// Returns false if Linux is too old (before 5.14) or could not read them.
pub(crate) fn populate_pages(bytes: &[u8]) -> bool {
    let pages = pages(bytes);
    // SAFETY: this advice maps pages of the file as reading them would, and changes nothing else;
    // unreadable bytes cause an error, not a signal.
    pages.is_empty()
        || unsafe { madvise(pages.start as *mut _, pages.len(), Advice::LinuxPopulateRead) }.is_ok()
}

/// Returns the number of `bytes` in memory, counted in whole pages; `None` if the system does not
/// report it. For a mapped file, these bytes are in the page cache.
pub fn resident_bytes(bytes: &[u8]) -> Option<usize> {
    if bytes.is_empty() {
        return Some(0);
    }
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

/// Returns the addresses of the pages that contain `bytes`.
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

//! A page of a tree, or a page of values within a node.

use std::cmp::Ordering;

use super::{RECORD, Table};
use crate::lookup::FileDamage;

/// Number of bytes of a page header. The node offsets follow.
pub(super) const HEADER: usize = 16;
/// Byte offset of the flags in a page.
pub(super) const FLAGS: usize = 10;
/// Flags for the kind of a page.
const BRANCH: u16 = 0x01;
const LEAF: u16 = 0x02;
const OVERFLOW: u16 = 0x04;
pub(super) const META: u16 = 0x08;
/// Flag of a leaf page whose keys have one length and which has no nodes.
const FIXED_KEYS: u16 = 0x20;
/// Number of bytes of a node before its key.
const NODE: usize = 8;
/// Flag of a node whose value is on overflow pages.
const BIG: u16 = 0x01;
/// Flag of a node whose value is the record of a table.
const RECORD_NODE: u16 = 0x02;
/// Flag of a node with several values: in a page within the node, or in a tree.
const DUPLICATES: u16 = 0x04;

/// Returns `N` bytes from offset `at`. The caller must have checked that they exist.
pub(super) fn fixed_bytes<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes[at + i])
}

/// A page whose header has been checked: its node offsets are within the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page<'a> {
    bytes: &'a [u8],
    /// Byte offset of the page in the file, for messages.
    at: usize,
    flags: u16,
    count: usize,
}

/// The content of a node of a leaf page, besides its key.
pub(super) enum Content<'a> {
    /// A single value within the node.
    Value(&'a [u8]),
    /// A single value on overflow pages: the number of the first page, and the length in bytes.
    Big(u64, usize),
    /// Several values, which are the keys of this page.
    SubPage(Page<'a>),
    /// Several values, which are the keys of this tree.
    SubTree(Table),
}

impl<'a> Page<'a> {
    /// Reads the page `number`, which begins at byte `at` of the file.
    pub(super) fn read(bytes: &'a [u8], at: usize, number: u64) -> Result<Self, FileDamage> {
        if u64::from_le_bytes(fixed_bytes(bytes, 0)) != number {
            return Err(FileDamage { offset: at, problem: "a page that bears another number" });
        }
        Self::parse(bytes, at)
    }

    fn parse(bytes: &'a [u8], at: usize) -> Result<Self, FileDamage> {
        if bytes.len() < HEADER {
            return Err(FileDamage { offset: at, problem: "a page cut short" });
        }
        let flags = u16::from_le_bytes(fixed_bytes(bytes, FLAGS));
        if flags & OVERFLOW != 0 {
            return Ok(Self { bytes, at, flags, count: 0 });
        }
        let lower = usize::from(u16::from_le_bytes(fixed_bytes(bytes, 12)));
        if lower < HEADER || lower > bytes.len() {
            return Err(FileDamage { offset: at, problem: "node offsets beyond their page" });
        }
        Ok(Self { bytes, at, flags, count: (lower - HEADER) / 2 })
    }

    /// Returns the number of bytes of the page.
    pub(super) fn length(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the byte offset of the page in the file.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// Makes an error at this page.
    pub(super) fn damage(&self, problem: &'static str) -> FileDamage {
        FileDamage { offset: self.at, problem }
    }

    pub(super) fn is_branch(&self) -> bool {
        self.flags & BRANCH != 0
    }

    pub(super) fn is_leaf(&self) -> bool {
        self.flags & LEAF != 0
    }

    /// Returns whether the page is a leaf with keys of one length.
    pub(super) fn has_fixed_keys(&self) -> bool {
        self.flags & FIXED_KEYS != 0
    }

    /// Returns the number of keys.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of pages of the value that begins on this page; `None` if this is not an
    /// overflow page.
    pub(super) fn overflow_pages(&self) -> Option<usize> {
        let pages = u32::from_le_bytes(fixed_bytes(self.bytes, 12)) as usize;
        (self.flags & OVERFLOW != 0).then_some(pages)
    }

    /// Returns the key of node `i`.
    pub(super) fn key(&self, i: usize) -> Result<&'a [u8], FileDamage> {
        if self.flags & FIXED_KEYS != 0 {
            let length = usize::from(u16::from_le_bytes(fixed_bytes(self.bytes, 8)));
            let start = HEADER + i * length;
            let key = self.bytes.get(start..start + length);
            return key.ok_or_else(|| self.damage("a key beyond its page"));
        }
        let node = self.node(i)?;
        let length = usize::from(u16::from_le_bytes(fixed_bytes(self.bytes, node + 6)));
        let key = self.bytes.get(node + NODE..node + NODE + length);
        key.ok_or_else(|| self.damage("a key beyond its page"))
    }

    /// Checks that the keys of a page ascend within `bounds`, and that its nodes fill the page. The
    /// lower bound is included, the upper one is not.
    pub(super) fn check_keys(
        &self,
        table: &Table,
        is_leaf: bool,
        [lower, upper]: [Option<&[u8]>; 2],
    ) -> Result<(), FileDamage> {
        if self.is_leaf() != is_leaf || self.is_branch() == is_leaf || self.count == 0 {
            return Err(self.damage("a page of another kind was expected"));
        }
        let mut last = lower;
        for i in usize::from(!is_leaf)..self.count {
            let key = self.key(i)?;
            let least = if i == 0 { Ordering::Less } else { Ordering::Equal };
            if last.is_some_and(|last| table.compare(key, last) <= least) {
                return Err(self.damage("keys out of order"));
            }
            last = Some(key);
        }
        if let (Some(last), Some(upper)) = (last, upper)
            && table.compare(last, upper) != Ordering::Less
        {
            return Err(self.damage("keys of another page"));
        }
        let used =
            (0..self.count).map(|i| self.node_length(i)).sum::<Result<usize, FileDamage>>()?;
        let upper = usize::from(u16::from_le_bytes(fixed_bytes(self.bytes, 14)));
        if upper.checked_add(used) != Some(self.bytes.len()) {
            return Err(self.damage("nodes that do not fill their page"));
        }
        Ok(())
    }

    /// Returns the length of node `i` in bytes, rounded up to an even number.
    fn node_length(&self, i: usize) -> Result<usize, FileDamage> {
        let node = self.node(i)?;
        let half = |at| u16::from_le_bytes(fixed_bytes(self.bytes, node + at));
        let value = match self.is_leaf() {
            true if half(4) & BIG != 0 => 8,
            true => usize::from(half(0)) | usize::from(half(2)) << 16,
            false => 0,
        };
        Ok((NODE + usize::from(half(6)) + value).next_multiple_of(2))
    }

    /// Returns the number of the child page of node `i` of a branch page.
    pub(super) fn child(&self, i: usize) -> Result<u64, FileDamage> {
        let node = self.node(i)?;
        let half = |at| u64::from(u16::from_le_bytes(fixed_bytes(self.bytes, node + at)));
        Ok(half(0) | half(2) << 16 | half(4) << 32)
    }

    /// Returns the content of node `i` of a leaf page with nodes.
    pub(super) fn content(&self, i: usize) -> Result<Content<'a>, FileDamage> {
        let node = self.node(i)?;
        let half = |at| u16::from_le_bytes(fixed_bytes(self.bytes, node + at));
        let length = usize::from(half(0)) | usize::from(half(2)) << 16;
        let flags = half(4);
        let start = node + NODE + usize::from(half(6));
        let beyond = || self.damage("a value beyond its page");
        let data = |length| self.bytes.get(start..start + length).ok_or_else(beyond);
        if flags & BIG != 0 {
            return Ok(Content::Big(u64::from_le_bytes(fixed_bytes(data(8)?, 0)), length));
        }
        let data = data(length)?;
        match (flags & DUPLICATES != 0, flags & RECORD_NODE != 0) {
            (true, true) => Ok(Content::SubTree(Table::read(data, self.at + start)?)),
            (true, false) => {
                let page = Page::parse(data, self.at + start)?;
                if page.is_leaf() {
                    Ok(Content::SubPage(page))
                } else {
                    Err(page.damage("a leaf page was expected"))
                }
            }
            (false, _) => Ok(Content::Value(data)),
        }
    }

    /// Reads the table whose record is the value of node `i`.
    pub(super) fn table(&self, i: usize) -> Result<Table, FileDamage> {
        let node = self.node(i)?;
        let flags = u16::from_le_bytes(fixed_bytes(self.bytes, node + 4));
        match self.content(i)? {
            Content::Value(record) if flags & RECORD_NODE != 0 && record.len() == RECORD => {
                Table::read(record, self.at + node)
            }
            _ => Err(self.damage("the record of a table was expected")),
        }
    }

    /// Returns the offset of node `i` in the page. Checks that the header of the node is within the
    /// page.
    fn node(&self, i: usize) -> Result<usize, FileDamage> {
        if i >= self.count || self.flags & FIXED_KEYS != 0 {
            return Err(self.damage("a node that is not there"));
        }
        let node = usize::from(u16::from_le_bytes(fixed_bytes(self.bytes, HEADER + 2 * i)));
        if node + NODE > self.bytes.len() {
            return Err(self.damage("a node beyond its page"));
        }
        Ok(node)
    }
}

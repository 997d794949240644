//! Definition lines with bytes that are not printable ASCII.
//!
//! BLAST+ warns about such lines after it printed all definition lines. Threads and ranks find them
//! in any order, but the first one of each volume is always the same.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// The kind of text in a header that has unprintable bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum UnprintableText {
    /// The title of a definition line.
    Title,
    /// An identifier of a definition line.
    Identifier,
}

/// The first sequence of a volume, in OID order, whose definition lines have unprintable bytes.
/// Only sequences that were read so far count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnprintableHeader {
    /// OID of the sequence.
    pub oid: u32,
    /// The kind of text: title or identifier.
    pub text: UnprintableText,
    /// Path of the header file.
    pub file: PathBuf,
}

impl fmt::Display for UnprintableHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { oid, text, file } = self;
        let text = match text {
            UnprintableText::Title => "the title",
            UnprintableText::Identifier => "an identifier",
        };
        let (file, has) = (file.display(), "has bytes that are no printable ASCII, shown as #");
        write!(f, "header file ({file}): {text} of sequence {oid} {has}")
    }
}

/// The first sequence of a volume with unprintable text. Threads record such sequences in any
/// order.
#[derive(Debug)]
pub(crate) struct FirstUnprintable(AtomicU64);

/// Value that means: no unprintable text has been recorded.
const NONE: u64 = u64::MAX;

impl Default for FirstUnprintable {
    fn default() -> Self {
        Self(AtomicU64::new(NONE))
    }
}

impl FirstUnprintable {
    /// Records an unprintable text of the sequence with this number, counted from 0 in the volume.
    pub(crate) fn record_first(&self, number: u32, text: UnprintableText) {
        let key = u64::from(number) << 1 | u64::from(text == UnprintableText::Identifier);
        self.0.fetch_min(key, Ordering::Relaxed);
    }

    /// Returns number and kind of text of the first sequence recorded so far.
    pub(crate) fn get(&self) -> Option<(u32, UnprintableText)> {
        let key = Some(self.0.load(Ordering::Relaxed)).filter(|&key| key != NONE)?;
        let text = if key & 1 == 0 { UnprintableText::Title } else { UnprintableText::Identifier };
        Some(((key >> 1) as u32, text))
    }
}

/// Replaces bytes that are not printable ASCII by `#`, as BLAST+ does. Returns whether there were
/// any such bytes.
pub(crate) fn make_printable(text: &mut [u8]) -> bool {
    let is_odd = |byte: &u8| !(b' '..=b'~').contains(byte);
    let any = text.iter().any(is_odd);
    if any {
        text.iter_mut().filter(|byte| is_odd(byte)).for_each(|byte| *byte = b'#');
    }
    any
}

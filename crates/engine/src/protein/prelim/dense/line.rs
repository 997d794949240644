//! Concatenates the subjects of a block, so that the filter runs through all of them without a
//! stop.

use super::{NEUTRAL, RESET, SLACK, TEST_EVERY};

/// Codes that follow the residues of each subject.
const PAD: [u8; 3] = [NEUTRAL, RESET, RESET];

/// The residues of all subjects of a block. A neutral code and two resetting codes follow each
/// subject.
#[derive(Debug, Default)]
pub(super) struct Line {
    codes: Vec<u8>,
    /// Start of each subject in `codes`.
    starts: Vec<usize>,
}

impl Line {
    /// Replaces the subjects on the line by these.
    pub fn fill(&mut self, subjects: &[&[u8]]) {
        self.codes.clear();
        self.starts.clear();
        for subject in subjects {
            self.starts.push(self.codes.len());
            self.codes.extend_from_slice(subject);
            self.codes.extend(PAD);
        }
        let len = self.codes.len().next_multiple_of(TEST_EVERY);
        self.codes.resize(len + SLACK, RESET);
    }

    /// Returns the number of codes, a multiple of [`TEST_EVERY`].
    pub fn len(&self) -> usize {
        self.codes.len() - SLACK
    }

    /// Returns the codes, followed by [`SLACK`] more.
    pub fn codes(&self) -> &[u8] {
        &self.codes
    }

    /// Returns the number of the subject that has a residue at this offset of the line, and the
    /// offset in the subject.
    pub fn subject(&self, offset: usize) -> (usize, usize) {
        let index = self.starts.partition_point(|&start| start <= offset) - 1;
        (index, offset - self.starts[index])
    }
}

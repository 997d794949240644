//! The files of a volume, and what their stretches hold.

use std::ops::Range;

/// Which file of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VolumeFile {
    /// `.pin`, `.nin`
    Index,
    /// `.psq`, `.nsq`
    Sequences,
    /// `.phr`, `.nhr`
    Headers,
}

/// What a stretch of a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// In the index: where each sequence begins, and the end of the last.
    SequenceOffsets,
    /// In the index, of nucleotides only: where the ambiguities of each sequence begin.
    AmbiguityOffsets,
    /// Residues, each sequence between sentinels; or packed bases, each sequence followed by its
    /// ambiguities.
    Sequences,
    /// In the index: where each header begins, and the end of the last.
    HeaderOffsets,
    /// Definition lines.
    Headers,
}

impl Part {
    /// All parts, in the order of the spans of a piece.
    pub(crate) const ALL: [Part; 5] = [
        Part::SequenceOffsets,
        Part::AmbiguityOffsets,
        Part::Sequences,
        Part::HeaderOffsets,
        Part::Headers,
    ];

    /// The file in which it is.
    pub fn file(self) -> VolumeFile {
        match self {
            Self::SequenceOffsets | Self::AmbiguityOffsets | Self::HeaderOffsets => {
                VolumeFile::Index
            }
            Self::Sequences => VolumeFile::Sequences,
            Self::Headers => VolumeFile::Headers,
        }
    }
}

/// A stretch of a file of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it holds.
    pub part: Part,
    /// Which bytes of the file [`Part::file`] tells.
    pub bytes: Range<u64>,
}

//! The files of a volume, and the parts of their contents.

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

/// The contents of a part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// In the index: the start of each sequence, and the end of the last.
    SequenceOffsets,
    /// In the index, for nucleotides only: the start of each sequence's ambiguities.
    AmbiguityOffsets,
    /// Residues, each sequence between sentinels; or packed bases, each sequence followed by its
    /// ambiguities.
    Sequences,
    /// In the index: the start of each header, and the end of the last.
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

    /// The file that contains the part.
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

/// A range of a file of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its contents.
    pub part: Part,
    /// The range of the file, which is [`Part::file`].
    pub bytes: Range<u64>,
}

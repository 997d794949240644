//! The files of a volume, and the parts that can be loaded separately.

use std::ops::Range;

/// One of the files of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VolumeFile {
    /// `.pin`, `.nin`
    Index,
    /// `.psq`, `.nsq`
    Sequences,
    /// `.phr`, `.nhr`
    Headers,
}

/// A part of a volume's file that can be loaded separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumePart {
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

impl VolumePart {
    /// All parts, in the order of the spans of a piece.
    pub(crate) const ALL: [VolumePart; 5] = [
        VolumePart::SequenceOffsets,
        VolumePart::AmbiguityOffsets,
        VolumePart::Sequences,
        VolumePart::HeaderOffsets,
        VolumePart::Headers,
    ];

    /// Returns the file that contains the part.
    pub fn volume_file(self) -> VolumeFile {
        match self {
            Self::SequenceOffsets | Self::AmbiguityOffsets | Self::HeaderOffsets => {
                VolumeFile::Index
            }
            Self::Sequences => VolumeFile::Sequences,
            Self::Headers => VolumeFile::Headers,
        }
    }
}

/// A range of bytes in a file of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpan {
    /// The contents of the range.
    pub part: VolumePart,
    /// The range in the file [`VolumePart::volume_file`].
    pub bytes: Range<u64>,
}

//! The files of a volume, and the parts that can be loaded separately.

use std::ops::Range;

/// One of the files of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VolumeFile {
    /// Index file: `.pin` or `.nin`.
    Index,
    /// Sequence file: `.psq` or `.nsq`.
    Sequences,
    /// Header file: `.phr` or `.nhr`.
    Headers,
}

/// A part of a volume's file that can be loaded separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumePart {
    /// In the index: the start of each sequence, and the end of the last one.
    SequenceOffsets,
    /// In the index of nucleotides: the start of each sequence's ambiguities.
    AmbiguityOffsets,
    /// Residues, with a sentinel between sequences; or packed bases, with the ambiguities after the
    /// bases of each sequence.
    Sequences,
    /// In the index: the start of each header, and the end of the last one.
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
    /// The part of the file that the range belongs to.
    pub part: VolumePart,
    /// The range in the file that [`VolumePart::volume_file`] returns.
    pub bytes: Range<u64>,
}

//! Sequence identifiers: the kinds NCBI knows, read from FASTA definition lines and written back.

/// A number or a text, as NCBI's Object-id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ObjectId {
    /// A number.
    Number(i64),
    /// A text.
    Text(Vec<u8>),
}

/// The databases whose identifiers are an accession with optional name, release and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextKind {
    /// `gb`
    GenBank,
    /// `emb`
    Embl,
    /// `pir`
    Pir,
    /// `sp`, and `tr` where the release is `unreviewed`
    SwissProt,
    /// `ref`
    RefSeq,
    /// `dbj`
    Ddbj,
    /// `prf`
    Prf,
    /// `tpg`
    TpaGenBank,
    /// `tpe`
    TpaEmbl,
    /// `tpd`
    TpaDdbj,
    /// `gpp`
    Gpipe,
    /// `nat`
    NamedAnnotTrack,
}

/// One identifier of a sequence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SeqId {
    /// `lcl|...`
    Local(ObjectId),
    /// `gnl|db|tag`; database `BL_ORD_ID` marks a sequence without identifiers of its own.
    General {
        /// Name of the database.
        db: Vec<u8>,
        /// Identifier in it.
        tag: ObjectId,
    },
    /// `gi|...`
    Gi(i64),
    /// `pdb|mol|chain`
    Pdb {
        /// Entry.
        mol: Vec<u8>,
        /// Chain, empty if none.
        chain: Vec<u8>,
    },
    /// `pat|country|number|sequence`
    Patent {
        /// Country.
        country: Vec<u8>,
        /// Number of the patent or application.
        number: Vec<u8>,
        /// Number of the sequence in it.
        sequence: i64,
    },
    /// Accession-like identifiers.
    Text {
        /// Which database.
        kind: TextKind,
        /// Accession without version.
        accession: Vec<u8>,
        /// Version.
        version: Option<u32>,
        /// Locus or entry name, empty if none.
        name: Vec<u8>,
        /// Release tag, empty if none.
        release: Vec<u8>,
    },
    /// `bbs|`, `bbm|`, `gim|` and other numbered kinds: prefix and number.
    Numbered(&'static str, i64),
}

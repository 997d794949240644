//! Sequence identifiers: the types that NCBI knows, parsed from FASTA definition lines and
//! formatted again.
//!
//! Each output uses these functions (`tabular.cpp`, `showdefline.cpp`, `align_format_util.cpp`):
//!
//! | output | function |
//! |---|---|
//! | `qseqid`, `sseqid`, each part of `sallseqid` | [`format_id_list`] |
//! | `qacc`, `sacc`, each part of `sallacc` | [`choose_text_id`], then [`SeqId::accession`] |
//! | `qaccver`, `saccver` | [`choose_text_id`], then [`SeqId::accession_version`] |
//! | `qgi`, `sgi`, each part of `sallgi` | [`first_gi`] |
//! | pairwise: table, `>`, `Query=` | [`choose_report_id`], then [`SeqId::format_for_report`] |
//! | the identifier of a sequence inside BLAST | [`choose_best_id`] |
//!
//! Without `-parse_deflines` (or `-parse_seqids` for a database) none of this applies. The first
//! word of the title is then the identifier.

pub mod accession;
mod bare;
mod choice;
mod compare;
mod exception;
mod object_id;
mod parse;
mod tagged;

use serde::{Deserialize, Serialize};

pub use self::choice::{
    TextRanking, choose_best_id, choose_report_id, choose_sam_id, choose_text_id, first_gi,
    format_fasta_ids, format_id_list,
};
pub use self::exception::IdException;
pub use self::object_id::ObjectId;
pub use self::parse::{
    IdError, parse_alignment_ids, parse_fasta_ids, parse_fasta_ids_with_skipped, parse_first_id,
    parse_first_id_with_surplus, parse_list_entry, parse_lookup_ids, parse_makeblastdb_ids,
    parse_number_or_accession, parse_single_id,
};
pub use self::tagged::FirstId;

/// Maximal length of a local identifier, and of the tag of a general one.
pub(crate) const MAX_LOCAL: usize = 50;

/// The databases whose identifiers are an accession with optional name, release and version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TextKind {
    /// GenBank, tag `gb`.
    GenBank,
    /// EMBL, tag `emb`.
    Embl,
    /// PIR, tag `pir`.
    Pir,
    /// Swiss-Prot, tag `sp`, or `tr` if the release is `unreviewed`.
    SwissProt,
    /// RefSeq, tag `ref`.
    RefSeq,
    /// DDBJ, tag `dbj`.
    Ddbj,
    /// PRF, tag `prf`.
    Prf,
    /// Third-party annotation of GenBank, tag `tpg`.
    TpaGenBank,
    /// Third-party annotation of EMBL, tag `tpe`.
    TpaEmbl,
    /// Third-party annotation of DDBJ, tag `tpd`.
    TpaDdbj,
    /// Gpipe, tag `gpp`.
    Gpipe,
    /// Named annotation track, tag `nat`.
    NamedAnnotTrack,
}

impl TextKind {
    /// Returns the tag of these identifiers.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::GenBank => "gb",
            Self::Embl => "emb",
            Self::Pir => "pir",
            Self::SwissProt => "sp",
            Self::RefSeq => "ref",
            Self::Ddbj => "dbj",
            Self::Prf => "prf",
            Self::TpaGenBank => "tpg",
            Self::TpaEmbl => "tpe",
            Self::TpaDdbj => "tpd",
            Self::Gpipe => "gpp",
            Self::NamedAnnotTrack => "nat",
        }
    }
}

/// The databases with numeric identifiers, except gi.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NumberKind {
    /// GenInfo backbone sequence, tag `bbs`.
    BackboneSequence,
    /// GenInfo backbone molecule, tag `bbm`.
    BackboneMolecule,
    /// GenInfo import, tag `gim`.
    Import,
}

impl NumberKind {
    /// Returns the tag of these identifiers.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::BackboneSequence => "bbs",
            Self::BackboneMolecule => "bbm",
            Self::Import => "gim",
        }
    }
}

/// Release name of Swiss-Prot identifiers with the tag `tr`.
const UNREVIEWED: &[u8] = b"unreviewed";

/// One identifier of a sequence.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SeqId {
    /// A local identifier: `lcl|...`.
    Local(ObjectId),
    /// A general identifier: `gnl|db|tag`. The database `BL_ORD_ID` marks a sequence without
    /// identifiers of its own.
    General {
        /// Name of the database.
        db: Vec<u8>,
        /// Identifier in the database.
        tag: ObjectId,
    },
    /// A GI: `gi|...`.
    Gi(i64),
    /// A PDB identifier: `pdb|mol|chain`.
    Pdb {
        /// PDB entry.
        mol: Vec<u8>,
        /// Chain; empty if there is none.
        chain: Vec<u8>,
    },
    /// A sequence in a patent: `pat|country|number|sequence`.
    Patent {
        /// Country of the patent.
        country: Vec<u8>,
        /// Number of the patent or application.
        number: Vec<u8>,
        /// Number of the sequence in the patent.
        sequence: i64,
    },
    /// An accession with optional name, release and version.
    Text {
        /// The database.
        kind: TextKind,
        /// Accession without version; empty if there is only a name.
        accession: Vec<u8>,
        /// Version, if there is one.
        version: Option<u32>,
        /// Locus or entry name; empty if there is none.
        name: Vec<u8>,
        /// Release name; empty if there is none.
        release: Vec<u8>,
    },
    /// A numeric identifier of this database.
    Numbered(NumberKind, i64),
}

/// The molecule type of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Molecule {
    /// A protein.
    Protein,
    /// DNA or RNA.
    Nucleotide,
}

impl SeqId {
    /// Returns the texts of the identifier, without tags, so that the caller can change them.
    pub fn texts_mut(&mut self) -> Vec<&mut Vec<u8>> {
        match self {
            Self::Local(ObjectId::Text(text)) => vec![text],
            Self::General { db, tag: ObjectId::Text(tag) } => vec![db, tag],
            Self::General { db, tag: ObjectId::Number(_) } => vec![db],
            Self::Pdb { mol, chain } => vec![mol, chain],
            Self::Patent { country, number, .. } => vec![country, number],
            Self::Text { accession, name, release, .. } => vec![accession, name, release],
            Self::Local(ObjectId::Number(_)) | Self::Gi(_) | Self::Numbered(..) => Vec::new(),
        }
    }

    /// Formats the identifier with its tag, as in FASTA: `sp|P69905.2|HBA_HUMAN`, `lcl|loc1`,
    /// `gnl|mydb|tag1`, `pdb|1ABC|A` (a blank for no chain).
    pub fn fasta(&self) -> Vec<u8> {
        match self {
            Self::Local(id) => join(&[b"lcl|", &id.text()]),
            Self::General { db, tag } => join(&[b"gnl|", db, b"|", &tag.text()]),
            Self::Gi(number) => format!("gi|{number}").into_bytes(),
            Self::Pdb { mol, chain } if chain.is_empty() => join(&[b"pdb|", mol, b"| "]),
            Self::Pdb { mol, chain } => join(&[b"pdb|", mol, b"|", chain]),
            Self::Patent { country, number, sequence } => {
                let sequence = sequence.to_string();
                join(&[b"pat|", country, b"|", number, b"|", sequence.as_bytes()])
            }
            Self::Text { kind, accession, version, name, release } => {
                let tag = match kind {
                    TextKind::SwissProt if release == UNREVIEWED => "tr",
                    _ => kind.tag(),
                };
                let version = match version {
                    Some(version) if *version != 0 && !accession.is_empty() => {
                        format!(".{version}")
                    }
                    _ => String::new(),
                };
                join(&[tag.as_bytes(), b"|", accession, version.as_bytes(), b"|", name])
            }
            Self::Numbered(kind, number) => format!("{}|{number}", kind.tag()).into_bytes(),
        }
    }

    /// Formats the identifier without tag and version: the accession in upper case, else the name;
    /// `mydb:tag1`, `1ABC_A`, `USRE33188_1`.
    pub fn accession(&self) -> Vec<u8> {
        self.content(false)
    }

    /// Formats the identifier like [`accession`](Self::accession), with the version after a dot if
    /// there is one.
    pub fn accession_version(&self) -> Vec<u8> {
        self.content(true)
    }

    /// Formats the identifier as the pairwise report prints it (`CAlignFormatUtil::GetBareId`).
    /// This is [`accession_version`](Self::accession_version), but the whole FASTA form for `gi`,
    /// `pir` and `prf`.
    pub fn format_for_report(&self) -> Vec<u8> {
        match self {
            Self::Gi(_) | Self::Text { kind: TextKind::Pir | TextKind::Prf, .. } => self.fasta(),
            _ => self.accession_version(),
        }
    }

    /// Returns whether the identifier is only the number of a sequence in a database without parsed
    /// identifiers.
    pub fn is_ordinal(&self) -> bool {
        matches!(self, Self::General { db, .. } if db == b"BL_ORD_ID")
    }

    fn content(&self, with_version: bool) -> Vec<u8> {
        match self {
            Self::Local(id) => id.text(),
            Self::General { db, tag } => join(&[db, b":", &tag.text()]),
            Self::Gi(number) | Self::Numbered(_, number) => number.to_string().into_bytes(),
            Self::Pdb { mol, chain } if chain.is_empty() => mol.clone(),
            Self::Pdb { mol, chain } => join(&[mol, b"_", chain]),
            Self::Patent { country, number, sequence } => {
                join(&[country, number, b"_", sequence.to_string().as_bytes()])
            }
            Self::Text { accession, version, name, .. } => {
                let mut text = if accession.is_empty() {
                    name.clone()
                } else {
                    accession.to_ascii_uppercase()
                };
                if let (true, Some(version), false) = (with_version, version, text.is_empty()) {
                    text.extend_from_slice(format!(".{version}").as_bytes());
                }
                text
            }
        }
    }
}

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// Parses a text of decimal digits only; `None` for any other text, and if the value does not fit.
fn digits(text: &[u8]) -> Option<i64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests;

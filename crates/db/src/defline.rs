//! Definition lines: the Blast-def-line-set of a sequence, read from its binary ASN.1.

use fleetblast_seq::asn::ber::{BerError, BerReader, tag};
use fleetblast_seq::id::{NumberKind, ObjectId, SeqId, TextKind};
use serde::Serialize;

/// One definition line of a sequence. In databases such as nr, one sequence stands for several
/// identical ones and has a line for each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Defline {
    /// The title; the whole FASTA definition line if identifiers were not parsed; empty if absent.
    pub title: Vec<u8>,
    /// Whether the header contains a title, even an empty one. Headers of older databases can lack
    /// it.
    #[serde(skip)]
    pub has_title: bool,
    /// The identifiers in stored order; `gnl|BL_ORD_ID|n` if identifiers were not parsed.
    pub ids: Vec<SeqId>,
    /// The NCBI taxonomy identifier, 0 if unknown.
    pub taxid: i64,
    /// Whether the header contains a taxonomy identifier, even 0. `makeblastdb` always writes one.
    #[serde(skip)]
    pub has_taxid: bool,
    /// Membership bits, 32 per number (field 3); empty in databases made by makeblastdb.
    pub memberships: Vec<i64>,
    /// Link bits, 32 per number, or further taxids (field 4).
    pub links: Vec<i64>,
    /// Other numbers (field 5). The first that is not −1 is the PIG (protein identity group).
    pub other_info: Vec<i64>,
}

/// The error for a header that cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {offset} of the header")]
pub struct HeaderError {
    /// Byte offset from the start of the header.
    pub offset: usize,
    /// Description of the error.
    pub problem: &'static str,
}

impl From<BerError> for HeaderError {
    fn from(error: BerError) -> Self {
        Self { offset: error.at, problem: error.problem }
    }
}

type Result<T> = std::result::Result<T, BerError>;

/// Name of the general database for sequences without identifiers of their own.
pub(crate) const ORDINAL_DB: &[u8] = b"BL_ORD_ID";

/// Parses a Blast-def-line-set (blastdb.asn): the bytes of one sequence in a `.phr` file.
///
/// Skips unknown fields, which later versions may add.
///
/// # Errors
/// [`HeaderError`] if the bytes are not a valid BER encoding.
pub fn parse_deflines(header: &[u8]) -> std::result::Result<Vec<Defline>, HeaderError> {
    let mut reader = BerReader::new(header);
    Ok(defline_set(&mut reader)?)
}

/// Parses a Blast-def-line-set as [`parse_deflines`] does, but refuses unknown fields.
pub(crate) fn parse_deflines_strictly(
    header: &[u8],
) -> std::result::Result<Vec<Defline>, HeaderError> {
    let mut reader = BerReader::new(header);
    let lines = defline_set(&mut reader)?;
    reader.verify_all_known()?;
    Ok(lines)
}

/// Makes the title of a sequence from all its definition lines: the first title, then for each
/// other line `>`, its identifiers and its title (`s_GetBioseqTitle`, seqdbvol.cpp).
pub fn joined_title(lines: &[Defline]) -> Vec<u8> {
    let mut title = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        if !title.is_empty() {
            title.push(b' ');
        }
        if i > 0 && !line.ids.is_empty() {
            let ids: Vec<Vec<u8>> = line.ids.iter().map(SeqId::fasta).collect();
            title.push(b'>');
            title.extend(ids.join(&b'|'));
            if line.has_title {
                title.push(b' ');
            }
        }
        title.extend_from_slice(&line.title);
    }
    title
}

fn defline_set(reader: &mut BerReader<'_>) -> Result<Vec<Defline>> {
    let mut lines = Vec::new();
    reader.constructed(tag::SEQUENCE, |r, _| {
        lines.push(defline(r)?);
        Ok(())
    })?;
    reader.finish()?;
    Ok(lines)
}

fn defline(reader: &mut BerReader<'_>) -> Result<Defline> {
    let mut line = Defline::default();
    reader.fields(|r, tag| {
        match tag {
            0xa0 => {
                line.title = r.wrapped(tag, BerReader::string)?;
                line.has_title = true;
            }
            0xa1 => line.ids = r.wrapped(tag, |r| sequence_of(r, seq_id))?,
            0xa2 => {
                line.taxid = r.wrapped(tag, BerReader::integer)?;
                line.has_taxid = true;
            }
            0xa3 => line.memberships = r.wrapped(tag, |r| sequence_of(r, BerReader::integer))?,
            0xa4 => line.links = r.wrapped(tag, |r| sequence_of(r, BerReader::integer))?,
            0xa5 => line.other_info = r.wrapped(tag, |r| sequence_of(r, BerReader::integer))?,
            _ => r.skip()?,
        }
        Ok(())
    })?;
    Ok(line)
}

fn sequence_of<'a, T>(
    reader: &mut BerReader<'a>,
    mut item: impl FnMut(&mut BerReader<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut items = Vec::new();
    reader.constructed(tag::SEQUENCE, |r, _| {
        items.push(item(r)?);
        Ok(())
    })?;
    Ok(items)
}

/// Reads a Seq-id (seqloc.asn), which is a CHOICE. Its context tag is the number of the
/// alternative.
fn seq_id(reader: &mut BerReader<'_>) -> Result<SeqId> {
    let tag = match reader.peek() {
        Some(tag @ 0xa0..=0xb3) => tag,
        _ => return reader.fail("an unknown kind of Seq-id"),
    };
    let number = tag - tag::field(0);
    match number {
        0 => Ok(SeqId::Local(reader.wrapped(tag, object_id)?)),
        1 => Ok(SeqId::Numbered(
            NumberKind::BackboneSequence,
            reader.wrapped(tag, BerReader::integer)?,
        )),
        2 => Ok(SeqId::Numbered(
            NumberKind::BackboneMolecule,
            reader.wrapped(tag, BerReader::integer)?,
        )),
        3 => Ok(SeqId::Numbered(NumberKind::Import, reader.wrapped(tag, import_id)?)),
        8 => reader.wrapped(tag, read_patent),
        10 => reader.wrapped(tag, general),
        11 => Ok(SeqId::Gi(reader.wrapped(tag, BerReader::integer)?)),
        14 => reader.wrapped(tag, pdb),
        _ => {
            let kind = TEXT_KINDS[usize::from(number)];
            reader.wrapped(tag, |r| text_id(r, kind))
        }
    }
}

/// The type of accession for each alternative of Seq-id. Entries of alternatives that are no
/// Textseq-id are not used.
const TEXT_KINDS: [TextKind; 20] = {
    let mut kinds = [TextKind::GenBank; 20];
    kinds[5] = TextKind::Embl;
    kinds[6] = TextKind::Pir;
    kinds[7] = TextKind::SwissProt;
    kinds[9] = TextKind::RefSeq;
    kinds[12] = TextKind::Ddbj;
    kinds[13] = TextKind::Prf;
    kinds[15] = TextKind::TpaGenBank;
    kinds[16] = TextKind::TpaEmbl;
    kinds[17] = TextKind::TpaDdbj;
    kinds[18] = TextKind::Gpipe;
    kinds[19] = TextKind::NamedAnnotTrack;
    kinds
};

fn object_id(reader: &mut BerReader<'_>) -> Result<ObjectId> {
    if reader.peek() == Some(tag::field(0)) {
        reader.wrapped(tag::field(0), BerReader::integer).map(ObjectId::Number)
    } else {
        reader.wrapped(tag::field(1), BerReader::string).map(ObjectId::Text)
    }
}

/// Reads a Giimport-id. Returns its number, the only part that is shown.
fn import_id(reader: &mut BerReader<'_>) -> Result<i64> {
    let mut id = 0;
    reader.fields(|r, tag| {
        match tag {
            0xa0 => id = r.wrapped(tag, BerReader::integer)?,
            _ => r.skip()?,
        }
        Ok(())
    })?;
    Ok(id)
}

/// Reads a Textseq-id: name, accession, release and version, all optional.
fn text_id(reader: &mut BerReader<'_>, kind: TextKind) -> Result<SeqId> {
    let (mut name, mut accession, mut release) = (Vec::new(), Vec::new(), Vec::new());
    let mut version = None;
    reader.fields(|r, tag| {
        match tag {
            0xa0 => name = r.wrapped(tag, BerReader::string)?,
            0xa1 => accession = r.wrapped(tag, BerReader::string)?,
            0xa2 => release = r.wrapped(tag, BerReader::string)?,
            0xa3 => match u32::try_from(r.wrapped(tag, BerReader::integer)?) {
                Ok(number) => version = Some(number),
                Err(_) => return r.fail("a version out of range"),
            },
            _ => r.skip()?,
        }
        Ok(())
    })?;
    Ok(SeqId::Text { kind, accession, version, name, release })
}

/// Reads a Dbtag: a database and an Object-id.
fn general(reader: &mut BerReader<'_>) -> Result<SeqId> {
    let (mut db, mut tag_id) = (Vec::new(), None);
    reader.fields(|r, tag| {
        match tag {
            0xa0 => db = r.wrapped(tag, BerReader::string)?,
            0xa1 => tag_id = Some(r.wrapped(tag, object_id)?),
            _ => r.skip()?,
        }
        Ok(())
    })?;
    match tag_id {
        Some(tag) => Ok(SeqId::General { db, tag }),
        None => reader.fail("a general identifier without a tag"),
    }
}

/// Reads a PDB-seq-id: entry and chain. The text chain-id overrides the old one-letter chain.
fn pdb(reader: &mut BerReader<'_>) -> Result<SeqId> {
    let (mut mol, mut letter, mut chain) = (Vec::new(), None, None);
    reader.fields(|r, tag| {
        match tag {
            0xa0 => mol = r.wrapped(tag, BerReader::string)?,
            0xa1 => letter = u8::try_from(r.wrapped(tag, BerReader::integer)?).ok(),
            0xa3 => chain = Some(r.wrapped(tag, BerReader::string)?),
            _ => r.skip()?,
        }
        Ok(())
    })?;
    // The default letter 32, a blank, means no chain.
    let letter = || letter.filter(|&c| c != b' ').map_or_else(Vec::new, |c| vec![c]);
    Ok(SeqId::Pdb { mol, chain: chain.unwrap_or_else(letter) })
}

/// Reads a Patent-seq-id: the number of the sequence, and an Id-pat with country and number or
/// application.
fn read_patent(reader: &mut BerReader<'_>) -> Result<SeqId> {
    let (mut sequence, mut country, mut number) = (0, Vec::new(), Vec::new());
    reader.fields(|r, tag| {
        match tag {
            0xa0 => sequence = r.wrapped(tag, BerReader::integer)?,
            0xa1 => (country, number) = r.wrapped(tag, cited_patent)?,
            _ => r.skip()?,
        }
        Ok(())
    })?;
    Ok(SeqId::Patent { country, number, sequence })
}

fn cited_patent(reader: &mut BerReader<'_>) -> Result<(Vec<u8>, Vec<u8>)> {
    let (mut country, mut number) = (Vec::new(), Vec::new());
    reader.fields(|r, tag| {
        match tag {
            0xa0 => country = r.wrapped(tag, BerReader::string)?,
            0xa1 => {
                number = r.wrapped(tag, |r| {
                    let granted = r.peek() == Some(tag::field(0));
                    r.wrapped(tag::field(u8::from(!granted)), BerReader::string)
                })?;
            }
            _ => r.skip()?,
        }
        Ok(())
    })?;
    Ok((country, number))
}

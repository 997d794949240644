//! Reads checkpoints, as text or binary (`CPsiBlastArgs::ExtractAlgorithmOptions`, blast_args.cpp;
//! `CPsiBlastValidate::Pssm`, psiblast_aux_priv.cpp).

mod columns;
mod names;
#[cfg(test)]
mod tests;

use fleetblast_engine::pssm::{ByCode, ColumnResults};
use fleetblast_seq::alphabet::{self, SIZE};
use fleetblast_seq::asn::{AsnError, AsnReader, Malformed, Node, OBJECT_ID, SEQ_ID};
use fleetblast_seq::id::ObjectId;
use thiserror::Error;

use self::columns::{FinalData, IntermediateData};
use crate::asn::sequence;

/// ASN.1 type of a checkpoint.
const TYPE: &str = "PssmWithParameters";

/// The reason why a checkpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CheckpointError {
    /// The file is neither text nor binary ASN.1.
    #[error("Unsupported format for PSSM")]
    Format,
    /// The file is ASN.1, but not a valid checkpoint.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// BLAST+ refuses the checkpoint with this message.
    #[error("{0}")]
    Unusable(String),
    /// FleetBLAST does not support the content, although BLAST+ may accept it.
    #[error("{0}")]
    Unsupported(&'static str),
}

/// The content of a checkpoint that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedCheckpoint {
    /// Identifier of the query.
    pub id: ObjectId,
    /// Title of the query, if there is one.
    pub title: Option<Vec<u8>>,
    /// Whether the checkpoint has the query's letters as text (`iupacaa`) instead of codes
    /// (`ncbistdaa`).
    pub has_text_residues: bool,
    /// The letters of the query as NCBIstdaa codes.
    pub query: Vec<u8>,
    /// Scores by position and code, with λ, K and H of gapped alignments.
    pub scores: Option<(Vec<[i32; SIZE]>, [f64; 3])>,
    /// λ, K and H of ungapped alignments.
    pub ungapped_parameters: Option<[f64; 3]>,
    /// Frequencies by position and code.
    pub frequencies: Option<Vec<ByCode>>,
    /// Intermediate data by position.
    pub observed: Option<ColumnResults>,
    /// Name of the scoring matrix.
    pub matrix_name: Vec<u8>,
    /// Costs of gaps: open, extend.
    pub gap_costs: Option<(i32, i32)>,
    /// Pseudocount as given by the user.
    pub pseudocount: i32,
    /// Whether the checkpoint has all fields that psiblast writes, and no others.
    pub is_complete: bool,
}

impl From<AsnError> for CheckpointError {
    fn from(error: AsnError) -> Self {
        match error {
            AsnError::Malformed(malformed) => malformed.into(),
            // This cannot happen, because the bytes are in memory.
            AsnError::Io(error) => Malformed { at: 0, problem: error.to_string() }.into(),
        }
    }
}

type Result<T> = std::result::Result<T, CheckpointError>;

/// Reads a checkpoint in text or binary ASN.1.
///
/// # Errors
/// If the bytes are no checkpoint, or the checkpoint cannot be used.
pub fn read_checkpoint(bytes: &[u8]) -> Result<ParsedCheckpoint> {
    let visible = bytes.trim_ascii_start();
    let mut reader = match visible.first() {
        _ if visible.starts_with(b"<?xml") => {
            return Err(CheckpointError::Unsupported("a PSSM in XML"));
        }
        // 0x30 is the tag of a sequence in binary ASN.1, and the digit 0 in text.
        Some(0x30) if !is_text(visible) => AsnReader::binary(bytes),
        Some(b'A'..=b'Z' | b'-') if is_text(visible) => AsnReader::text(bytes),
        _ => return Err(CheckpointError::Format),
    };
    reader.header(TYPE)?;
    parse_checkpoint(reader.value()?)
}

/// Whether the bytes begin with a comment of ASN.1 text or a line that names a type.
fn is_text(bytes: &[u8]) -> bool {
    bytes.starts_with(b"--") || {
        let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        line.windows(3).any(|three| three == b"::=")
    }
}

fn parse_checkpoint(node: Node<'_>) -> Result<ParsedCheckpoint> {
    let [Some(pssm), parameters] = node.fields(names::WHOLE)? else {
        return Ok(node.fail("no 'pssm'")?);
    };
    let [protein, identifier, Some(rows), Some(columns), labels, by_row, query, intermediate, last] =
        pssm.fields(names::PSSM)?
    else {
        return Ok(pssm.fail("no 'numRows' or no 'numColumns'")?);
    };
    if protein.is_some_and(|it| it.boolean() == Ok(false)) {
        return unusable("PSSM does not represent protein scoring matrix");
    }
    if rows.integer()? != SIZE as i64 {
        return Err(CheckpointError::Unsupported("a PSSM of other than 28 rows"));
    }
    if by_row.map(|by_row| by_row.boolean()).transpose()?.unwrap_or(false) {
        return Err(CheckpointError::Unsupported("a PSSM by rows"));
    }
    if labels.is_some() {
        return Err(CheckpointError::Unsupported("a PSSM with rowLabels"));
    }
    let Some(query) = query else { return unusable("Missing query sequence in PSSM") };
    let query = QueryEntry::new(query)?;
    if columns.integer()? != query.letters.len() as i64 {
        return Ok(columns.fail("the query has another length")?);
    }
    let found = IntermediateData::new(intermediate, query.letters.len())?;
    let last = FinalData::new(last, query.letters.len())?;
    if found.frequencies.is_none() && last.scores.is_none() {
        return unusable("PSSM data must contain either scores or frequency ratios");
    }
    let scoring = ScoringParameters::new(parameters)?;
    let has_all = last.scores.is_some() && last.ungapped.is_some() && found.frequencies.is_some();
    let is_plain = query.is_plain && found.is_plain && last.is_plain && scoring.is_plain;
    Ok(ParsedCheckpoint {
        id: query.id,
        title: query.title,
        has_text_residues: query.is_text,
        query: query.letters,
        scores: last.scores,
        ungapped_parameters: last.ungapped,
        frequencies: found.frequencies,
        observed: found.observed,
        matrix_name: scoring.matrix,
        gap_costs: scoring.gaps,
        pseudocount: scoring.pseudocount,
        is_complete: protein.is_some()
            && by_row.is_some()
            && identifier.is_none()
            && has_all
            && is_plain,
    })
}

fn unusable<T>(words: impl Into<String>) -> Result<T> {
    Err(CheckpointError::Unusable(words.into()))
}

/// The query of a checkpoint. In this module `is_plain` means that a value has exactly the fields
/// that psiblast writes.
struct QueryEntry {
    id: ObjectId,
    title: Option<Vec<u8>>,
    is_text: bool,
    letters: Vec<u8>,
    is_plain: bool,
}

impl QueryEntry {
    fn new(entry: Node<'_>) -> Result<Self> {
        let (0, sequence) = entry.choice(sequence::ENTRY)? else {
            return unusable("Query sequence in ASN.1 PSSM is not a single Bioseq");
        };
        let [Some(ids), description, Some(instance), annotation] =
            sequence.fields(sequence::BIOSEQ)?
        else {
            return Ok(sequence.fail("no 'id' or no 'inst'")?);
        };
        let Some([id]) = ids.list()?.array() else {
            return Err(CheckpointError::Unsupported(
                "a PSSM whose query has several identifiers, or none",
            ));
        };
        let (0, id) = id.choice(SEQ_ID)? else {
            return Err(CheckpointError::Unsupported(
                "a PSSM whose query has an identifier that is not local",
            ));
        };
        let id = match id.choice(OBJECT_ID)? {
            (0, number) => ObjectId::Number(number.integer()?),
            (_, text) => ObjectId::Text(text.visible_text()?.into_owned()),
        };
        let descriptions = description.map(|node| node.list()).transpose()?;
        let (mut titles, mut count) = (Vec::new(), 0);
        for node in descriptions.into_iter().flatten() {
            count += 1;
            let (place, value) = node.choice(sequence::DESCRIPTION)?;
            if place == sequence::TITLE {
                titles.push(value.visible_text()?.into_owned());
            }
        }
        let is_plain = annotation.is_none()
            && count == titles.len()
            && titles.len() == usize::from(description.is_some());
        let (letters, is_text, is_bare) = read_letters(instance)?;
        Ok(QueryEntry {
            id,
            title: titles.into_iter().next(),
            is_text,
            letters,
            is_plain: is_plain && is_bare,
        })
    }
}

/// Reads the letters of the query as NCBIstdaa codes. Also returns whether they are stored as text,
/// and whether `instance` has none of its optional fields.
fn read_letters(instance: Node<'_>) -> Result<(Vec<u8>, bool, bool)> {
    let [
        Some(form),
        Some(molecule),
        Some(length),
        fuzz,
        topology,
        strand,
        Some(data),
        extension,
        history,
    ] = instance.fields(sequence::INSTANCE)?
    else {
        return Ok(instance.fail("no 'repr', 'mol', 'length' or 'seq-data'")?);
    };
    if !form.is_word("raw", 2) {
        return Err(CheckpointError::Unsupported("a PSSM whose query is not raw"));
    }
    if !molecule.is_word("aa", 3) {
        return unusable("Nucleotide Bioseq specified in program which expects protein query");
    }
    let (kind, data) = data.choice(sequence::DATA)?;
    let (letters, is_text): (Vec<u8>, bool) = match sequence::DATA[kind] {
        "ncbistdaa" => (data.bytes()?.into_owned(), false),
        "iupacaa" => {
            let code = |&letter: &u8| alphabet::encode(letter).unwrap_or(u8::MAX);
            (data.visible_text()?.iter().map(code).collect(), true)
        }
        _ => {
            return Err(CheckpointError::Unsupported(
                "a PSSM whose query is neither in ncbistdaa nor in iupacaa",
            ));
        }
    };
    if let Some(at) =
        letters.iter().position(|&code| code == alphabet::SENTINEL || usize::from(code) >= SIZE)
    {
        return unusable(format!("Warning: Invalid residues found at positions {at} "));
    }
    if length.integer()? != letters.len() as i64 || letters.is_empty() {
        return Ok(length.fail("the query has another length, or none")?);
    }
    let rest = [fuzz, topology, strand, extension, history];
    Ok((letters, is_text, rest.iter().all(Option::is_none)))
}

/// The scoring parameters of a checkpoint.
#[derive(Default)]
struct ScoringParameters {
    matrix: Vec<u8>,
    gaps: Option<(i32, i32)>,
    pseudocount: i32,
    is_plain: bool,
}

impl ScoringParameters {
    fn new(node: Option<Node<'_>>) -> Result<Self> {
        let Some(node) = node else { return Ok(ScoringParameters::default()) };
        let [pseudocount, scoring, constraints, threshold, sites] =
            node.fields(names::PARAMETERS)?;
        let Some(scoring) = scoring else { return Ok(ScoringParameters::default()) };
        let [Some(matrix), open, extend] = scoring.fields(names::SCORING)? else {
            return Ok(scoring.fail("no 'matrixName'")?);
        };
        let number = |node: Node<'_>| {
            let number = i32::try_from(node.integer()?);
            number.or_else(|_| node.fail("a number that is too large"))
        };
        let gaps = open.map(number).transpose()?.zip(extend.map(number).transpose()?);
        let matrix = matrix.visible_text()?.into_owned();
        let rest = [constraints, threshold, sites];
        Ok(ScoringParameters {
            is_plain: rest.iter().all(Option::is_none)
                && pseudocount.is_some()
                && open.is_some() == extend.is_some()
                && matrix == matrix.to_ascii_uppercase(),
            matrix,
            gaps,
            pseudocount: pseudocount.map(number).transpose()?.unwrap_or(0),
        })
    }
}

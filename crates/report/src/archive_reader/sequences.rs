//! The queries and FASTA subjects of an archive (`Bioseq-set`, seqset.asn).

use fleetblast_seq::alphabet;
use fleetblast_seq::asn::{Malformed, Node, read_seq_id};
use fleetblast_seq::id::{Molecule, SeqId};
use fleetblast_seq::nucleotide::blastna;

use crate::asn::sequence::{BIOSEQ, DATA, DESCRIPTION, ENTRY, INSTANCE, TITLE};

const SET: &[&str; 9] =
    &["id", "coll", "level", "class", "release", "date", "descr", "seq-set", "annot"];

const PSSM_WITH_PARAMETERS: &[&str; 2] = &["pssm", "params"];
const PSSM: &[&str; 9] = &[
    "isProtein",
    "identifier",
    "numRows",
    "numColumns",
    "rowLabels",
    "byRow",
    "query",
    "intermediateData",
    "finalData",
];

type Result<T> = std::result::Result<T, Malformed>;

/// A query, or a FASTA subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedSequence {
    /// Identifiers of the sequence.
    pub ids: Vec<SeqId>,
    /// The title; empty if there is none.
    pub title: Vec<u8>,
    /// Codes: NCBIstdaa of a protein, blastna of bases.
    pub letters: Vec<u8>,
}

/// Returns the sequences of a set.
pub(super) fn sequences_of_set(node: Node<'_>) -> Result<Vec<Node<'_>>> {
    let [.., Some(entries), _] = node.fields(SET)? else {
        return node.fail("a set without 'seq-set'");
    };
    let mut sequences = Vec::new();
    for entry in entries.list()? {
        match entry.choice(ENTRY)? {
            (0, sequence) => sequences.push(sequence),
            _ => return entry.fail("a set within a set"),
        }
    }
    Ok(sequences)
}

/// Returns the query of a PSSM (`PssmWithParameters`, scoremat.asn).
pub(super) fn sequence_of_pssm(node: Node<'_>) -> Result<Node<'_>> {
    let [Some(pssm), _] = node.fields(PSSM_WITH_PARAMETERS)? else {
        return node.fail("a matrix without 'pssm'");
    };
    let [.., Some(entry), _, _] = pssm.fields(PSSM)? else {
        return pssm.fail("a matrix without 'query'");
    };
    match entry.choice(ENTRY)? {
        (0, sequence) => Ok(sequence),
        _ => entry.fail("a set instead of a query"),
    }
}

/// Reads a sequence of this molecule (`Bioseq`, seq.asn).
pub(super) fn sequence(node: Node<'_>, molecule: Molecule) -> Result<ArchivedSequence> {
    let [Some(ids), descriptions, Some(instance), _] = node.fields(BIOSEQ)? else {
        return node.fail("a sequence without 'id' or 'inst'");
    };
    let mut title = Vec::new();
    for description in super::list(descriptions)? {
        // Descriptions of other kinds are not needed.
        if let Ok((TITLE, text)) = description.choice(DESCRIPTION) {
            title = text.text()?.into_owned();
        }
    }
    let [_, _, Some(length), .., data, _, _] = instance.fields(INSTANCE)? else {
        return instance.fail("a sequence without 'length'");
    };
    let mut letters = data.map_or(Ok(Vec::new()), |data| read_letters(data, molecule))?;
    let count = usize::try_from(length.integer()?).unwrap_or(usize::MAX);
    if letters.len() < count {
        return instance.fail(format!("{count} letters belong here, not {}", letters.len()));
    }
    let ids = ids.list()?.map(read_seq_id).collect::<Result<_>>()?;
    letters.truncate(count);
    Ok(ArchivedSequence { ids, title, letters })
}

/// Reads letters of this molecule. Packed bases may have some letters more than the sequence.
fn read_letters(node: Node<'_>, molecule: Molecule) -> Result<Vec<u8>> {
    let (kind, value) = node.choice(DATA)?;
    match (DATA[kind], molecule) {
        ("ncbieaa" | "iupacaa", Molecule::Protein) => {
            let code = |&letter: &u8| alphabet::encode(letter);
            match value.text()?.iter().map(code).collect() {
                Some(codes) => Ok(codes),
                None => value.fail("letters of a protein belong here"),
            }
        }
        ("ncbistdaa", Molecule::Protein) => match value.bytes()? {
            codes if codes.iter().all(|&code| usize::from(code) < alphabet::SIZE) => {
                Ok(codes.into_owned())
            }
            _ => value.fail("codes of a protein belong here"),
        },
        ("ncbi2na", Molecule::Nucleotide) => {
            let four = |byte: &u8| [6, 4, 2, 0].map(|shift| byte >> shift & 3);
            Ok(value.bytes()?.iter().flat_map(four).collect())
        }
        ("ncbi4na", Molecule::Nucleotide) => {
            let two = |byte: &u8| [byte >> 4, byte & 15].map(blastna::from_ncbi4na);
            Ok(value.bytes()?.iter().flat_map(two).collect())
        }
        (other, Molecule::Protein) => node.fail(format!("no protein has letters in '{other}'")),
        (other, Molecule::Nucleotide) => node.fail(format!("no bases are in '{other}'")),
    }
}

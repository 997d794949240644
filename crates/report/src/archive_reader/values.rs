//! The values of an archive that another archive repeats as they are.

use fleetblast_seq::asn::{Malformed, Node};
use fleetblast_seq::id::SeqId;

use super::{QUERIES, SEARCH, SUBJECT, search, sequences};
use crate::asn::{AsnValue, SEQUENCE, read_value};

/// The values of an archive that `blast_formatter` writes into another one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArchiveValues {
    /// The queries.
    pub queries: Vec<AsnValue>,
    /// The subjects, if they are from FASTA.
    pub subjects: Vec<AsnValue>,
    /// The alignments, with the identifiers of their queries.
    pub alignments: Vec<(SeqId, AsnValue)>,
}

impl ArchiveValues {
    /// Reads the sequences of a request.
    pub(super) fn read_request(&mut self, request: Node<'_>) -> Result<(), Malformed> {
        let Some(search) = search(request)? else { return Ok(()) };
        let [_, _, Some(queries), Some(subject), ..] = search.fields(SEARCH)? else {
            return search.fail("a search without 'queries' or 'subject'");
        };
        let (kind, value) = queries.choice(QUERIES)?;
        let queries = match QUERIES[kind] {
            "bioseq-set" => sequences::sequences_of_set(value)?,
            "pssm" => vec![sequences::sequence_of_pssm(value)?],
            _ => Vec::new(),
        };
        let value = |node: Node<'_>| read_value(node, &SEQUENCE);
        self.queries = queries.into_iter().map(value).collect::<Result<_, _>>()?;
        if let (1, sequences) = subject.choice(SUBJECT)? {
            self.subjects = sequences.list()?.map(value).collect::<Result<_, _>>()?;
        }
        Ok(())
    }
}

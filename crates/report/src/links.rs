//! Links of the HTML report to NCBI's reports of sequences.

use fleetblast_seq::id::{self, SeqId};

/// Where NCBI shows sequences of a kind.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    /// The kind, in addresses.
    pub report: &'static str,
    /// The kind, in NCBI's logs.
    pub log: &'static str,
}

/// Where in the report a link stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the description table.
    Table,
    /// Above alignments.
    Alignments,
}

impl Links {
    /// The start tag of a link to NCBI's report of a sequence; nothing if NCBI does not have it (`GetIDUrlGen`,
    /// align_format_util.cpp).
    pub fn of(&self, ids: &[SeqId], accession: &[u8], place: Place, rank: usize) -> Vec<u8> {
        let (log, rid) = match place {
            Place::Table => ("top", ""),
            Place::Alignments => ("align", "0"),
        };
        let known = |id: &SeqId| {
            matches!(id, SeqId::Text { .. } | SeqId::Pdb { .. } | SeqId::Patent { .. })
        };
        if ids.iter().any(known) {
            let acc = String::from_utf8_lossy(accession);
            let Links { report, log: kind } = self;
            return format!(
                "<a title=\"Show report for {acc}\" href=\"https://www.ncbi.nlm.nih.gov/{report}/{acc}\
                 ?report=genbank&log$={kind}{log}&blast_rank={rank}&RID={rid}\" >"
            )
            .into_bytes();
        }
        match id::report_choice(ids) {
            Some(SeqId::General { db, tag }) if db.eq_ignore_ascii_case(b"TI") => {
                let tag = tag.text();
                let number = String::from_utf8_lossy(&tag);
                format!(
                    "<a title=\"Show report for {number}\" href=\"https://www.ncbi.nlm.nih.gov/Traces/trace.cgi\
                     ?cmd=retrieve&dopt=fasta&val={number}&RID={rid}\">"
                )
                .into_bytes()
            }
            _ => Vec::new(),
        }
    }
}

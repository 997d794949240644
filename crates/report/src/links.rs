//! Makes the links of the HTML report to NCBI's pages of sequences.

use fleetblast_seq::id::{self, SeqId};

/// The parts of links to NCBI's pages that depend on the molecule type.
#[derive(Clone, Copy, Debug)]
pub struct NcbiLinks {
    /// The molecule type in the path of the address.
    pub address_molecule: &'static str,
    /// The molecule type in the address's parameter `log$`, for NCBI's logs.
    pub log_molecule: &'static str,
}

/// The part of the report that contains a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkPlace {
    /// The description table.
    Table,
    /// The titles above the alignments of a subject.
    Alignments,
}

impl NcbiLinks {
    /// Returns the start tag of a link to NCBI's page of a sequence. It is empty if NCBI does not
    /// have the sequence (`GetIDUrlGen`, align_format_util.cpp).
    pub fn start_tag(
        &self,
        ids: &[SeqId],
        accession: &[u8],
        place: LinkPlace,
        rank: usize,
    ) -> Vec<u8> {
        let (log, rid) = match place {
            LinkPlace::Table => ("top", ""),
            LinkPlace::Alignments => ("align", "0"),
        };
        let known = |id: &SeqId| {
            matches!(id, SeqId::Text { .. } | SeqId::Pdb { .. } | SeqId::Patent { .. })
        };
        if ids.iter().any(known) {
            let acc = String::from_utf8_lossy(accession);
            let NcbiLinks { address_molecule: report, log_molecule: kind } = self;
            return format!(
                "<a title=\"Show report for {acc}\" href=\"https://www.ncbi.nlm.nih.gov/{report}/{acc}\
                 ?report=genbank&log$={kind}{log}&blast_rank={rank}&RID={rid}\" >"
            )
            .into_bytes();
        }
        match id::choose_report_id(ids) {
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

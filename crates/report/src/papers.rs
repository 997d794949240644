//! The papers that programs cite (`CReference`, version.cpp).

use fleetblast_engine::params::{Params, ProteinParams};
use serde::{Deserialize, Serialize};

use crate::text::{self, TEXT_WIDTH};

/// A paper to cite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paper {
    /// The number of the paper in PubMed.
    pubmed: &'static str,
    heading: &'static str,
    /// Authors, title and journal, with umlauts as HTML entities.
    citation: &'static str,
}

/// The paper on gapped BLAST.
const GAPPED_BLAST: Paper = Paper {
    pubmed: "9254694",
    heading: "Reference",
    citation: "Stephen F. Altschul, Thomas L. Madden, Alejandro A. Sch&auml;ffer, \
               Jinghui Zhang, Zheng Zhang, Webb Miller, and David J. Lipman (1997), \
               \"Gapped BLAST and PSI-BLAST: a new generation of protein database search programs\", \
               Nucleic Acids Res. 25:3389-3402.",
};

const COMPOSITION: Paper = Paper {
    pubmed: "11452024",
    heading: "Reference for composition-based statistics",
    citation: "Alejandro A. Sch&auml;ffer, L. Aravind, Thomas L. Madden, Sergei Shavirin, \
               John L. Spouge, Yuri I. Wolf, Eugene V. Koonin, and Stephen F. Altschul (2001), \
               \"Improving the accuracy of PSI-BLAST protein database searches with \
               composition-based statistics and other refinements\", Nucleic Acids Res. 29:2994-3005.",
};

const ADJUSTED_MATRICES: Paper = Paper {
    pubmed: "16218944",
    heading: "Reference for compositional score matrix adjustment",
    citation: "Stephen F. Altschul, John C. Wootton, E. Michael Gertz, Richa Agarwala, \
               Aleksandr Morgulis, Alejandro A. Sch&auml;ffer, and Yi-Kuo Yu (2005) \
               \"Protein database searches using compositionally adjusted substitution matrices\", \
               FEBS J. 272:5101-5109.",
};

const COMPOSITION_IN_LATER_ROUNDS: Paper = Paper {
    heading: "Reference for composition-based statistics starting in round 2",
    ..COMPOSITION
};

const GREEDY: Paper = Paper {
    pubmed: "10890397",
    heading: "Reference",
    citation: "Zheng Zhang, Scott Schwartz, Lukas Wagner, and Webb Miller (2000), \
               \"A greedy algorithm for aligning DNA sequences\", J Comput Biol 2000; 7(1-2):203-14.",
};

const PATTERNS: Paper = Paper {
    pubmed: "9705509",
    // Only XML cites this paper.
    heading: "",
    citation: "Zheng Zhang, Alejandro A. Sch&auml;ffer, Webb Miller, Thomas L. Madden, David J. Lipman, \
               Eugene V. Koonin, and Stephen F. Altschul (1998), \"Protein sequence similarity searches \
               using patterns as seeds\", Nucleic Acids Res. 26:3986-3990.",
};

/// The kind of search that determines which papers a report cites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Citations {
    /// The papers of `blastp`.
    Blastp,
    /// The papers of `psiblast`.
    Psiblast,
    /// The papers of `psiblast -phi_pattern`.
    Phiblast,
    /// The papers of `blastn`, except with the task `megablast`.
    Blastn,
    /// The papers of `blastx`, `tblastn` and `tblastx`.
    Translated,
    /// The papers of `blastn -task megablast`, greedy or not.
    Megablast,
}

impl Citations {
    /// Returns the papers in the order in which the report cites them.
    pub fn papers(self) -> &'static [Paper] {
        match self {
            Citations::Blastp => &[GAPPED_BLAST, COMPOSITION],
            Citations::Psiblast => &[GAPPED_BLAST, ADJUSTED_MATRICES, COMPOSITION_IN_LATER_ROUNDS],
            Citations::Phiblast => &[GAPPED_BLAST, PATTERNS],
            Citations::Blastn | Citations::Translated => &[GAPPED_BLAST],
            Citations::Megablast => &[GREEDY],
        }
    }

    /// Returns the citations of the program whose default parameters are `params`.
    pub fn default_for(params: &Params) -> Citations {
        match params {
            Params::Protein(ProteinParams { query_translation: Some(_), .. })
            | Params::Protein(ProteinParams { subject_translation: Some(_), .. }) => {
                Citations::Translated
            }
            Params::Protein(_) => Citations::Blastp,
            Params::Nucleotide(params) if params.greedy => Citations::Megablast,
            Params::Nucleotide(_) => Citations::Blastn,
        }
    }
}

impl Citations {
    /// Returns the paper that XML and JSON cite (`CBLASTXMLReportData`, `s_GetBlastPublication`).
    pub(crate) fn of_xml(self) -> &'static Paper {
        let papers = self.papers();
        papers.iter().find(|paper| paper.is_cited_in_xml()).unwrap_or(&papers[0])
    }
}

impl Paper {
    /// Appends the paragraph of the pairwise report that cites the paper.
    pub(crate) fn cite(&self, html: bool, out: &mut Vec<u8>) {
        let Paper { pubmed, heading, citation } = self;
        let paragraph = if html {
            format!(
                "<b><a href=\"https://www.ncbi.nlm.nih.gov/entrez/query.fcgi?db=PubMed&cmd=Retrieve\
                 &list_uids={pubmed}&dopt=Citation\">{heading}</a>:</b>\n{citation}"
            )
        } else {
            format!("{heading}: {}", citation.replacen("&auml;", "a", 1))
        };
        text::wrap(paragraph.as_bytes(), TEXT_WIDTH, false, out);
        out.push(b'\n');
    }

    /// Whether the pairwise report cites the paper.
    pub(crate) fn is_cited_in_text(&self) -> bool {
        !self.heading.is_empty()
    }

    /// Whether XML cites this paper instead of the first one of the list.
    fn is_cited_in_xml(&self) -> bool {
        [COMPOSITION_IN_LATER_ROUNDS, PATTERNS].contains(self)
    }

    /// Returns the text of the citation as XML shows it.
    pub(crate) fn citation(&self) -> &'static str {
        self.citation
    }
}

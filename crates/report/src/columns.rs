//! The columns of the tabular formats: keywords, headings, and the parser of the list in `-outfmt`.

/// A column of the tabular formats. The comment of each variant is its keyword in `-outfmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// `qseqid`
    QuerySeqId,
    /// `qgi`
    QueryGi,
    /// `qacc`
    QueryAccession,
    /// `qaccver`
    QueryAccessionVersion,
    /// `qlen`
    QueryLength,
    /// `sseqid`
    SubjectSeqId,
    /// `sallseqid`
    SubjectAllSeqIds,
    /// `sgi`
    SubjectGi,
    /// `sallgi`
    SubjectAllGis,
    /// `sacc`
    SubjectAccession,
    /// `saccver`
    SubjectAccessionVersion,
    /// `sallacc`
    SubjectAllAccessions,
    /// `slen`
    SubjectLength,
    /// `qstart`
    QueryStart,
    /// `qend`
    QueryEnd,
    /// `sstart`
    SubjectStart,
    /// `send`
    SubjectEnd,
    /// `qseq`
    QuerySeq,
    /// `sseq`
    SubjectSeq,
    /// `evalue`
    Evalue,
    /// `bitscore`
    BitScore,
    /// `score`
    Score,
    /// `length`
    Length,
    /// `pident`
    PercentIdentity,
    /// `nident`
    Identities,
    /// `mismatch`
    Mismatches,
    /// `positive`
    Positives,
    /// `gapopen`
    GapOpens,
    /// `gaps`
    Gaps,
    /// `ppos`
    PercentPositives,
    /// `frames`
    Frames,
    /// `qframe`
    QueryFrame,
    /// `sframe`
    SubjectFrame,
    /// `btop`
    Btop,
    /// `staxid`
    TaxId,
    /// `ssciname`
    ScientificName,
    /// `scomname`
    CommonName,
    /// `sblastname`
    BlastName,
    /// `sskingdom`
    SuperKingdom,
    /// `staxids`
    TaxIds,
    /// `sscinames`
    ScientificNames,
    /// `scomnames`
    CommonNames,
    /// `sblastnames`
    BlastNames,
    /// `sskingdoms`
    SuperKingdoms,
    /// `stitle`
    Title,
    /// `salltitles`
    AllTitles,
    /// `sstrand`
    Strand,
    /// `qcovs`
    CoveragePerSubject,
    /// `qcovhsp`
    CoveragePerHsp,
    /// `qcovus`
    CoveragePerUniqueSubject,
}

use Column as C;

/// For each column its keyword in `-outfmt` and its heading in format 7.
const COLUMNS: [(&str, Column, &str); 50] = [
    ("qseqid", C::QuerySeqId, "query id"),
    ("qgi", C::QueryGi, "query gi"),
    ("qacc", C::QueryAccession, "query acc."),
    ("qaccver", C::QueryAccessionVersion, "query acc.ver"),
    ("qlen", C::QueryLength, "query length"),
    ("sseqid", C::SubjectSeqId, "subject id"),
    ("sallseqid", C::SubjectAllSeqIds, "subject ids"),
    ("sgi", C::SubjectGi, "subject gi"),
    ("sallgi", C::SubjectAllGis, "subject gis"),
    ("sacc", C::SubjectAccession, "subject acc."),
    ("saccver", C::SubjectAccessionVersion, "subject acc.ver"),
    ("sallacc", C::SubjectAllAccessions, "subject accs."),
    ("slen", C::SubjectLength, "subject length"),
    ("qstart", C::QueryStart, "q. start"),
    ("qend", C::QueryEnd, "q. end"),
    ("sstart", C::SubjectStart, "s. start"),
    ("send", C::SubjectEnd, "s. end"),
    ("qseq", C::QuerySeq, "query seq"),
    ("sseq", C::SubjectSeq, "subject seq"),
    ("evalue", C::Evalue, "evalue"),
    ("bitscore", C::BitScore, "bit score"),
    ("score", C::Score, "score"),
    ("length", C::Length, "alignment length"),
    ("pident", C::PercentIdentity, "% identity"),
    ("nident", C::Identities, "identical"),
    ("mismatch", C::Mismatches, "mismatches"),
    ("positive", C::Positives, "positives"),
    ("gapopen", C::GapOpens, "gap opens"),
    ("gaps", C::Gaps, "gaps"),
    ("ppos", C::PercentPositives, "% positives"),
    ("frames", C::Frames, "query/sbjct frames"),
    ("qframe", C::QueryFrame, "query frame"),
    ("sframe", C::SubjectFrame, "sbjct frame"),
    ("btop", C::Btop, "BTOP"),
    ("staxid", C::TaxId, "subject tax id"),
    ("ssciname", C::ScientificName, "subject sci name"),
    ("scomname", C::CommonName, "subject com names"),
    ("sblastname", C::BlastName, "subject blast name"),
    ("sskingdom", C::SuperKingdom, "subject super kingdom"),
    ("staxids", C::TaxIds, "subject tax ids"),
    ("sscinames", C::ScientificNames, "subject sci names"),
    ("scomnames", C::CommonNames, "subject com names"),
    ("sblastnames", C::BlastNames, "subject blast names"),
    ("sskingdoms", C::SuperKingdoms, "subject super kingdoms"),
    ("stitle", C::Title, "subject title"),
    ("salltitles", C::AllTitles, "subject titles"),
    ("sstrand", C::Strand, "subject strand"),
    ("qcovs", C::CoveragePerSubject, "% query coverage per subject"),
    ("qcovhsp", C::CoveragePerHsp, "% query coverage per hsp"),
    ("qcovus", C::CoveragePerUniqueSubject, "% query coverage per uniq subject"),
];

/// The columns that `std` stands for. They are also the default of a list without any known
/// keyword.
const STANDARD: [Column; 12] = [
    C::QueryAccessionVersion,
    C::SubjectAccessionVersion,
    C::PercentIdentity,
    C::Length,
    C::Mismatches,
    C::GapOpens,
    C::QueryStart,
    C::QueryEnd,
    C::SubjectStart,
    C::SubjectEnd,
    C::Evalue,
    C::BitScore,
];

impl Column {
    /// Returns the column's heading in format 7.
    pub fn heading(self) -> &'static str {
        COLUMNS.iter().find(|(_, column, _)| *column == self).map_or("", |(_, _, heading)| heading)
    }

    /// Whether the column shows the name of one taxon.
    pub fn is_taxon_name(&self) -> bool {
        matches!(self, C::ScientificName | C::CommonName | C::BlastName | C::SuperKingdom)
    }

    /// Whether the column shows the names of all taxa of a subject.
    pub fn is_list_of_taxon_names(&self) -> bool {
        matches!(self, C::ScientificNames | C::CommonNames | C::BlastNames | C::SuperKingdoms)
    }
}

/// The columns of a tabular report and the delimiter between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The columns, without duplicates.
    pub list: Vec<Column>,
    /// The delimiter: a tab, a comma, or the text after `delim=`.
    pub delimiter: Vec<u8>,
    /// Whether names of taxa are printed in quotes.
    pub quotes_taxa: bool,
    /// Whether a line with the names of the columns comes before the rows.
    pub has_headings: bool,
}

impl Columns {
    /// Parses the keywords that follow the number and `delim=` in `-outfmt`.
    ///
    /// `std` stands for the usual twelve columns, `-word` removes a column, and unknown words are
    /// ignored. If no column remains, the usual twelve are shown (`x_SetFieldsToShow`,
    /// tabular.cpp).
    ///
    /// ```
    /// use fleetblast_report::columns::{Column, Columns};
    /// let columns = Columns::parse("qseqid score qseqid nonsense", b"\t");
    /// assert_eq!(columns.list, [Column::QuerySeqId, Column::Score]);
    /// assert_eq!(Columns::parse("", b",").list.len(), 12);
    /// ```
    pub fn parse(words: &str, delimiter: &[u8]) -> Self {
        let mut list: Vec<Column> = Vec::new();
        let known =
            |word: &str| COLUMNS.iter().find(|(name, ..)| *name == word).map(|known| known.1);
        for word in words.split(' ') {
            if word == "std" {
                STANDARD.iter().for_each(|&column| add(&mut list, column));
            } else if let Some(column) = word.strip_prefix('-').and_then(known) {
                list.retain(|&kept| kept != column);
            } else if let Some(column) = known(word) {
                add(&mut list, column);
            }
        }
        if list.is_empty() {
            list = STANDARD.to_vec();
        }
        Self { list, delimiter: delimiter.to_vec(), quotes_taxa: false, has_headings: false }
    }

    /// Returns the keywords of the columns, separated by the delimiter.
    pub(crate) fn headings(&self) -> Vec<u8> {
        let keyword =
            |column: &Column| COLUMNS.iter().find(|(_, known, _)| known == column).map(|it| it.0);
        let keywords: Vec<_> = self.list.iter().filter_map(keyword).map(str::as_bytes).collect();
        keywords.join(&self.delimiter[..])
    }

    /// Returns the keywords that [`parse`](Self::parse) knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        COLUMNS.iter().map(|(name, ..)| *name).chain(["std"])
    }

    /// Whether any column needs the letters of the alignment.
    pub(crate) fn need_letters(&self) -> bool {
        let of_letters = [C::QuerySeq, C::SubjectSeq, C::Btop, C::Positives, C::PercentPositives];
        self.list.iter().any(|column| of_letters.contains(column))
    }

    /// Whether any column needs the aligned rows: positions, counts of columns, or strands
    /// (`SetFields`, tabular.cpp). The columns `frames` and `sframe` do not count.
    pub(crate) fn need_alignment(&self) -> bool {
        let of_rows = [
            C::QueryStart,
            C::QueryEnd,
            C::SubjectStart,
            C::SubjectEnd,
            C::QuerySeq,
            C::SubjectSeq,
            C::Length,
            C::PercentIdentity,
            C::Identities,
            C::Mismatches,
            C::Positives,
            C::PercentPositives,
            C::GapOpens,
            C::Gaps,
            C::QueryFrame,
            C::Btop,
            C::Strand,
        ];
        self.list.iter().any(|column| of_rows.contains(column))
    }

    /// Whether any column shows names of taxa, which come from a taxonomy database.
    pub fn have_taxon_names(&self) -> bool {
        self.list.iter().any(|column| column.is_taxon_name() || column.is_list_of_taxon_names())
    }

    /// Whether BLAST+ warns, once for every query, if there is no taxonomy database. It warns only
    /// for columns that list the names of all taxa.
    pub fn warn_without_taxonomy(&self) -> bool {
        self.list.iter().any(Column::is_list_of_taxon_names)
    }
}

fn add(list: &mut Vec<Column>, column: Column) {
    if !list.contains(&column) {
        list.push(column);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn std_mixes_and_columns_can_be_taken_away() {
        let columns = Columns::parse("qlen std -evalue -nonsense evalue qlen", b"\t");
        assert_eq!(columns.list.len(), 13);
        assert_eq!(columns.list[0], Column::QueryLength);
        assert_eq!(columns.list[12], Column::Evalue);
        assert_eq!(Columns::parse("-score", b"\t").list, STANDARD);
    }

    #[test]
    fn frames_alone_do_not_need_the_alignment() {
        for (words, needed) in [
            ("frames sframe evalue score slen qcovhsp", false),
            ("frames qframe", true),
            ("sframe sstrand", true),
            ("sframe nident", true),
        ] {
            assert_eq!(Columns::parse(words, b"\t").need_alignment(), needed, "{words}");
        }
    }

    #[test]
    fn names_need_the_taxonomy() {
        for (words, shown, warned) in [
            ("std sskingdoms", true, true),
            ("ssciname staxids", true, false),
            ("staxid staxids", false, false),
        ] {
            let columns = Columns::parse(words, b"\t");
            assert_eq!(
                (columns.have_taxon_names(), columns.warn_without_taxonomy()),
                (shown, warned)
            );
        }
    }

    #[test]
    fn every_column_has_one_name() {
        for (i, (name, column, heading)) in COLUMNS.iter().enumerate() {
            assert_eq!(column.heading(), *heading);
            assert!(COLUMNS[..i].iter().all(|(other, known, _)| other != name && known != column));
        }
    }
}

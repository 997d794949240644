//! The rules that differ between releases of BLAST+.
//!
//! Code whose results depend on the release reads the [`Release`] that it is given. Other modules
//! do not depend on the number of a release, with one exception: positions in BLAST+'s source are
//! stored beside the messages that name them, one position for each release ([`Release::choose`]).
//! Values that are the same in all releases are stored where they are used.

use fleetblast_seq::fasta::IdEnd;
use fleetblast_seq::id::TextRanking;

/// The rules of a release of BLAST+.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Release {
    /// Number of the release, such as `2.12.0`. Banners and `-version` print a `+` after it.
    pub version: &'static str,
    /// Word size, in residues, of the tasks whose names end in `-fast`.
    pub fast_word_size: usize,
    /// Lowest score of a neighbouring word in the tasks whose names end in `-fast`.
    pub fast_word_threshold: f64,
    /// Lowest score of a neighbouring word for words of 5, 6 and 7 residues, if the word size is
    /// given and the score is not; `None` if the score does not depend on the word size.
    pub long_word_thresholds: Option<[f64; 3]>,
    /// Default e-value of the task blastp-short.
    pub blastp_short_evalue: f64,
    /// Default e-value of the task blastn-short.
    pub blastn_short_evalue: f64,
    /// Whether the task blastn-short masks low complexity by default.
    pub blastn_short_masks: bool,
    /// Maximal word sizes of blastn, in bases, and of psiblast and tblastx, in residues; `None` if
    /// they have no limits of their own.
    pub longest_words: Option<LongestWords>,
    /// Shortest word, in residues, that is looked up in a compressed alphabet.
    pub compressed_alphabet_min_word_size: usize,
    /// Default gap costs of PAM250: to open a gap, and for each residue of it.
    pub pam250_gap_costs: (i32, i32),
    /// Fraction of identical residues above which two aligned sequences are nearly identical.
    pub near_identical_fraction: f64,
    /// Whether the task blastp-fast with BLOSUM62 drops ungapped HSPs by the scores of their
    /// chains.
    pub filters_chains: bool,
    /// Whether the subjects of a query are ordered after `-qcov_hsp_perc` removed HSPs, and not
    /// before.
    pub filters_before_order: bool,
    /// Whether two alignments with a common start or end must be in the same frame of the subject
    /// for one of them to be removed.
    pub common_ends_have_frames: bool,
    /// The encoding of XML.
    pub xml_encoding: XmlEncoding,
    /// Whether the column `sstrand` shows strands of translated subjects.
    pub shows_translated_strands: bool,
    /// Whether the columns `sframe` and `frames` are 0 in a table without a column that needs the
    /// alignment.
    pub leaves_frames_unset: bool,
    /// Whether the column `qcovhsp` counts codons of a translated query, and not bases.
    pub hsp_coverage_counts_codons: bool,
    /// Whether names of taxa are quoted in tables whose delimiter is a comma.
    pub quotes_taxa: bool,
    /// Whether a search fails if the subjects are too short: if their mean length, or the shortest
    /// length, rounds down to 0 residues.
    pub refuses_short_subjects: bool,
    /// Whether the prefixes `MULTISPECIES:` and `TLS:` of stored titles are removed in titles that
    /// BLAST+ generates.
    pub removes_later_prefixes: bool,
    /// Whether the table of descriptions shows titles with their prefixes and organisms as stored,
    /// instead of removing or replacing them.
    pub keeps_titles: bool,
    /// Whether the coverage in the table of descriptions is rounded to the nearest per cent, and
    /// not down.
    pub rounds_coverage: bool,
    /// Whether a flag may have a value after `=`, which is ignored.
    pub flags_may_have_values: bool,
    /// Whether all programs have `-help-full`, which also shows hidden options.
    pub has_full_help: bool,
    /// Whether messages of searches go to the file of `-logfile`, and not only errors of arguments.
    pub logs_searches: bool,
    /// Whether the file of `-conffile` must exist at the given path, although a name without a
    /// directory is searched in other directories, too.
    pub requires_conffile: bool,
    /// Whether `-mt_mode 1` warns of sets of queries that are too small for all threads.
    pub advises_on_few_queries: bool,
    /// Whether format 20 has comma-separated values with headings.
    pub has_headed_csv: bool,
    /// Whether `-taxids` and similar options stand for taxa with their descendants. Then the error
    /// for unknown taxa names the databases, and an excluding list may consist of unknown taxa.
    pub expands_taxa: bool,
    /// Whether a list of identifiers whose words are all GIs hides no definition lines. Otherwise
    /// it hides all.
    pub ignores_lists_of_gi_words: bool,
    /// Whether tasks set an e-value, so that archives list it before other options. The filter
    /// DUST is then listed only if it is given.
    pub tasks_set_evalue: bool,
    /// Whether JSON and XML2 of psiblast lack positions and letters of alignments, and titles of
    /// queries.
    pub psiblast_loses_sequences: bool,
    /// The error for a database, or a list, that does not exist or is not valid.
    pub missing_database: MissingDatabase,
    /// Default of `makeblastdb -max_file_sz`, the maximal size of a database file.
    pub default_max_file_size: &'static str,
    /// Whether a database has a file with its metadata, which `blastdbcmd -metadata` can print.
    pub has_database_metadata: bool,
    /// Whether the size of a database, and its metadata, include its files with metadata.
    pub counts_metadata_files: bool,
    /// Whether an OIDLIST in an alias makes the database count its sequences, instead of stating
    /// the totals of the whole database. The file of the OIDLIST may then be in the directory of
    /// the first volume instead of the alias's.
    pub counts_oid_lists: bool,
    /// Whether messages of exceptions name the source file that threw them, instead of a header.
    pub names_throwing_files: bool,
    /// Whether `blastdb_aliastool` restricts several databases by a list. Generated titles then
    /// name the last one, without its directory.
    pub restricts_several_databases: bool,
    /// Whether the volume numbers of `blastdb_aliastool -num_volumes` have as many digits as the
    /// number of volumes, such as `000` for 100 volumes.
    pub counts_digits_of_volumes: bool,
    /// Whether exceptions about databases have a kind of error of their own instead of `eInvalid`.
    pub names_database_errors: bool,
    /// Whether `blastdbcheck` knows TAXIDLIST, STATS_NSEQ and STATS_TOTLEN in aliases.
    pub checks_later_alias_entries: bool,
    /// Whether `makeblastdb` reads input that does not look like FASTA, with a warning.
    pub reads_doubtful_input: bool,
    /// Whether `makeblastdb` stores the identifiers of its FASTA reader for words that are no
    /// identifiers by themselves, such as `a"b`.
    pub keeps_reader_ids: bool,
    /// The character that ends the identifier in a definition line of FASTA.
    pub id_end: IdEnd,
    /// Whether blanks at both ends of the `-db` of a search are ignored.
    pub trims_database_names: bool,
    /// Whether `blastdbcmd -ctrl_a -long_seqids` replaces all separators of definition lines, and
    /// not only those before a GI.
    pub ctrl_a_replaces_all: bool,
    /// The order in which one of several identifiers is chosen for tabular and similar formats.
    pub text_ranking: TextRanking,
    /// Whether `blastdbcmd -tax_info` counts the sequences of a taxon.
    pub counts_sequences_of_taxa: bool,
}

/// Maximal word sizes of programs that have limits of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestWords {
    /// Maximal word size of blastn, in bases.
    pub blastn: usize,
    /// Maximal word size of psiblast, tblastx, and tblastn with a PSSM, in residues.
    pub psiblast: usize,
}

/// The encoding of XML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlEncoding {
    /// Latin-1, which the document does not declare. Titles are read as UTF-8.
    Latin1,
    /// ASCII.
    Ascii,
}

impl XmlEncoding {
    /// Returns the first line of a document, without a line end.
    pub fn declaration(self) -> &'static str {
        match self {
            XmlEncoding::Latin1 => "<?xml version=\"1.0\"?>",
            XmlEncoding::Ascii => "<?xml version=\"1.0\" encoding=\"US-ASCII\"?>",
        }
    }
}

/// The error for a database, a file of it or a list that does not exist or is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingDatabase {
    /// The message has the name and the search path.
    Named,
    /// As [`Named`](Self::Named), but the message for a missing database also has advice.
    NamedWithAdvice,
    /// The message says that a file cannot be mapped to memory. The exit code is the one for errors
    /// of the search.
    Unmapped,
}

impl Release {
    /// All releases whose rules are known.
    pub const ALL: [&'static Self; 3] = [&Self::V2_12_0, &Self::V2_16_0, &Self::V2_17_0];

    /// BLAST+ 2.12.0, of June 2021.
    pub const V2_12_0: Self = Self {
        version: "2.12.0",
        fast_word_size: 6,
        fast_word_threshold: 21.0,
        long_word_thresholds: None,
        blastp_short_evalue: 10.0,
        blastn_short_evalue: 10.0,
        blastn_short_masks: true,
        longest_words: None,
        compressed_alphabet_min_word_size: 6,
        pam250_gap_costs: (14, 2),
        near_identical_fraction: 0.96,
        filters_chains: false,
        filters_before_order: false,
        common_ends_have_frames: false,
        xml_encoding: XmlEncoding::Latin1,
        shows_translated_strands: false,
        leaves_frames_unset: false,
        hsp_coverage_counts_codons: false,
        quotes_taxa: false,
        refuses_short_subjects: false,
        removes_later_prefixes: false,
        keeps_titles: false,
        rounds_coverage: false,
        flags_may_have_values: true,
        has_full_help: false,
        logs_searches: true,
        requires_conffile: false,
        advises_on_few_queries: true,
        has_headed_csv: false,
        expands_taxa: false,
        ignores_lists_of_gi_words: false,
        tasks_set_evalue: false,
        psiblast_loses_sequences: false,
        missing_database: MissingDatabase::Named,
        default_max_file_size: "1GB",
        has_database_metadata: false,
        counts_metadata_files: false,
        counts_oid_lists: false,
        names_throwing_files: false,
        restricts_several_databases: false,
        counts_digits_of_volumes: false,
        names_database_errors: true,
        checks_later_alias_entries: false,
        reads_doubtful_input: false,
        keeps_reader_ids: false,
        id_end: IdEnd::Bracket,
        trims_database_names: false,
        ctrl_a_replaces_all: false,
        text_ranking: TextRanking::RefSeqLater,
        counts_sequences_of_taxa: false,
    };

    /// BLAST+ 2.16.0, of June 2024.
    pub const V2_16_0: Self = Self {
        version: "2.16.0",
        fast_word_size: 5,
        fast_word_threshold: 20.0,
        long_word_thresholds: Some([19.3, 21.0, 20.25]),
        blastp_short_evalue: 20_000.0,
        blastn_short_evalue: 1000.0,
        blastn_short_masks: false,
        longest_words: Some(LongestWords { blastn: 100, psiblast: 4 }),
        compressed_alphabet_min_word_size: 5,
        near_identical_fraction: 0.95,
        filters_before_order: true,
        shows_translated_strands: true,
        leaves_frames_unset: true,
        refuses_short_subjects: true,
        advises_on_few_queries: false,
        removes_later_prefixes: true,
        expands_taxa: true,
        ignores_lists_of_gi_words: true,
        tasks_set_evalue: true,
        psiblast_loses_sequences: true,
        missing_database: MissingDatabase::Unmapped,
        default_max_file_size: "3GB",
        has_database_metadata: true,
        reads_doubtful_input: true,
        keeps_reader_ids: true,
        id_end: IdEnd::NonAscii,
        trims_database_names: true,
        text_ranking: TextRanking::RefSeqEqual,
        counts_sequences_of_taxa: true,
        has_full_help: true,
        logs_searches: false,
        requires_conffile: true,
        counts_oid_lists: true,
        names_throwing_files: true,
        checks_later_alias_entries: true,
        restricts_several_databases: true,
        counts_digits_of_volumes: true,
        ..Self::V2_12_0
    };

    /// BLAST+ 2.17.0, of June 2025.
    pub const V2_17_0: Self = Self {
        version: "2.17.0",
        pam250_gap_costs: (15, 2),
        filters_chains: true,
        common_ends_have_frames: true,
        xml_encoding: XmlEncoding::Ascii,
        hsp_coverage_counts_codons: true,
        quotes_taxa: true,
        keeps_titles: true,
        rounds_coverage: true,
        flags_may_have_values: false,
        has_headed_csv: true,
        counts_metadata_files: true,
        names_database_errors: false,
        ctrl_a_replaces_all: true,
        missing_database: MissingDatabase::NamedWithAdvice,
        ..Self::V2_16_0
    };

    /// Returns the first words of a program's reports, such as `BLASTP 2.12.0+`.
    pub fn banner(&self, program: &str) -> String {
        format!("{} {}+", program.to_uppercase(), self.version)
    }

    /// Finds the release with this number.
    pub fn find(version: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|release| release.version == version)
    }

    /// Returns whether this release is `other` or came after it.
    pub fn includes(&self, other: &Self) -> bool {
        self.position() >= other.position()
    }

    /// Returns the value of this release from those of all releases, in the order of
    /// [`Self::ALL`].
    pub fn choose<T: Copy>(&self, values: [T; 3]) -> T {
        values[self.position()]
    }

    /// Returns the index of this release in [`Self::ALL`].
    fn position(&self) -> usize {
        let earlier = |listed: &&&Self| listed.version != self.version;
        Self::ALL.iter().take_while(earlier).count()
    }

    /// Returns the lowest score of a neighbouring word that follows from a given word size, in
    /// residues; `None` if there is none.
    pub fn threshold_of_size(&self, word_size: usize) -> Option<f64> {
        let [five, six, seven] = self.long_word_thresholds?;
        match word_size {
            5 => Some(five),
            6 => Some(six),
            7 => Some(seven),
            _ => None,
        }
    }
}

/// Encodes a release as its number, for `serde`.
pub mod by_version {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    use super::Release;

    /// Encodes the number of a release.
    ///
    /// # Errors
    /// Returns an error of the serializer.
    pub fn serialize<S: Serializer>(
        release: &&'static Release,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(release.version)
    }

    /// Decodes a version such as `2.16.0`, and returns its release.
    ///
    /// # Errors
    /// Returns an error for an unknown release, or an error of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<&'static Release, D::Error> {
        let version = String::deserialize(deserializer)?;
        let known = Release::find(&version);
        known.ok_or_else(|| D::Error::custom(format!("unknown release of BLAST+: {version}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banners_have_the_name_and_the_release() {
        assert_eq!(Release::V2_12_0.banner("blastp"), "BLASTP 2.12.0+");
    }

    #[test]
    fn releases_choose_their_values() {
        assert_eq!(Release::ALL.map(|release| release.choose([1, 2, 3])), [1, 2, 3]);
        assert!(Release::V2_17_0.includes(&Release::V2_16_0));
        assert!(!Release::V2_12_0.includes(&Release::V2_16_0));
    }
}

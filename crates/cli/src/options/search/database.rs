//! `CBlastDatabaseArgs`: the database or subjects, and restrictions of them.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use fleetblast_seq::convert::trim_spaces;
use fleetblast_stats::release::Release;

use super::{GENERAL, RESTRICT, STATISTICS, SUBJECT_SEQUENCES};
use crate::options::later::Change;
use crate::options::opt::Opt;
use crate::options::spec::{OptionSpec, names_are_equal};
use crate::options::values::Values;

/// Options for a database and lists of its sequences. Like the constants below, they are in the
/// order of the usage text; each program uses those that it has.
pub const LISTS: &[OptionSpec] = &[
    DB.spec,
    DBSIZE.spec,
    GILIST.spec,
    SEQIDLIST.spec,
    NEGATIVE_GILIST.spec,
    NEGATIVE_SEQIDLIST.spec,
    TAXIDS.spec,
    NEGATIVE_TAXIDS.spec,
    TAXIDLIST.spec,
    NEGATIVE_TAXIDLIST.spec,
    NO_TAXID_EXPANSION.spec,
];

/// Options for lists of groups of identical proteins.
pub const IDENTICAL_PROTEINS: &[OptionSpec] = &[IPGLIST.spec, NEGATIVE_IPGLIST.spec];

/// The option for an Entrez query in a search at NCBI.
pub const QUERY: &[OptionSpec] = &[ENTREZ_QUERY.spec];

/// Options for masks stored with a database.
pub const MASKS: &[OptionSpec] = &[DB_SOFT_MASK.spec, DB_HARD_MASK.spec];

/// Options for subjects from a file instead of a database.
pub const SUBJECTS: &[OptionSpec] = &[SUBJECT.spec, SUBJECT_LOC.spec];

/// Options for subjects from a file, in programs without options for the masks of databases.
pub const SUBJECTS_WITHOUT_MASKS: &[OptionSpec] = &[
    SUBJECT.excludes(NO_DATABASE_WITHOUT_MASKS.split_at(13).0).spec,
    SUBJECT_LOC.excludes(&NO_DATABASE_WITHOUT_MASKS).spec,
];

/// Options for nucleotide subjects from a file instead of a database.
pub const SUBJECTS_OF_NUCLEOTIDES: &[OptionSpec] = &[
    SUBJECT.excludes(NO_NUCLEOTIDE_DATABASE.split_at(13).0).spec,
    SUBJECT_LOC.excludes(&NO_NUCLEOTIDE_DATABASE).spec,
];

/// Options that exclude each other, in the order of the checks. The options for taxids do not
/// exclude `-no_taxid_expansion`, the first one.
const EXCLUSIVE: [&str; 12] = [
    "no_taxid_expansion",
    "gilist",
    "seqidlist",
    "taxids",
    "taxidlist",
    "negative_gilist",
    "negative_seqidlist",
    "negative_taxids",
    "negative_taxidlist",
    "remote",
    "subject",
    "subject_loc",
];

/// Options that exclude subjects from a file. `-subject_loc` excludes all of them; `-subject`
/// excludes all but the last.
const NO_DATABASE: [&str; 16] = [
    "no_taxid_expansion",
    "db",
    "gilist",
    "seqidlist",
    "negative_gilist",
    "negative_seqidlist",
    "taxids",
    "taxidlist",
    "negative_taxids",
    "negative_taxidlist",
    "no_taxid_expansion",
    "ipglist",
    "negative_ipglist",
    "db_soft_mask",
    "db_hard_mask",
    "remote",
];

/// The options of [`NO_DATABASE`] in programs without options for the masks of databases.
const NO_DATABASE_WITHOUT_MASKS: [&str; 14] = [
    "no_taxid_expansion",
    "db",
    "gilist",
    "seqidlist",
    "negative_gilist",
    "negative_seqidlist",
    "taxids",
    "taxidlist",
    "negative_taxids",
    "negative_taxidlist",
    "no_taxid_expansion",
    "ipglist",
    "negative_ipglist",
    "remote",
];

/// The options of [`NO_DATABASE`] in searches of nucleotides.
const NO_NUCLEOTIDE_DATABASE: [&str; 14] = [
    "no_taxid_expansion",
    "db",
    "gilist",
    "seqidlist",
    "negative_gilist",
    "negative_seqidlist",
    "taxids",
    "taxidlist",
    "negative_taxids",
    "negative_taxidlist",
    "no_taxid_expansion",
    "db_soft_mask",
    "db_hard_mask",
    "remote",
];

/// `-db`.
pub const DB: Opt<OsString> = Opt::text("db", GENERAL, &["BLAST database name"])
    .label("database_name")
    .excludes(&["subject", "subject_loc"]);

/// `-dbsize`.
pub const DBSIZE: Opt<i64> =
    Opt::long("dbsize", STATISTICS, &["Effective length of the database "]).label("num_letters");

/// `-gilist`.
pub const GILIST: Opt<OsString> =
    Opt::text("gilist", RESTRICT, &["Restrict search of database to list of GIs"])
        .label("filename")
        .excludes(&all_but::<11>("gilist"));

/// `-seqidlist`.
pub const SEQIDLIST: Opt<OsString> =
    Opt::text("seqidlist", RESTRICT, &["Restrict search of database to list of SeqIDs"])
        .label("filename")
        .excludes(&all_but::<11>("seqidlist"));

/// `-negative_gilist`.
pub const NEGATIVE_GILIST: Opt<OsString> = Opt::text(
    "negative_gilist",
    RESTRICT,
    &["Restrict search of database to everything except the specified GIs"],
)
.label("filename")
.excludes(&all_but::<11>("negative_gilist"));

/// `-negative_seqidlist`.
pub const NEGATIVE_SEQIDLIST: Opt<OsString> = Opt::text(
    "negative_seqidlist",
    RESTRICT,
    &["Restrict search of database to everything except the specified SeqIDs"],
)
.label("filename")
.excludes(&all_but::<11>("negative_seqidlist"));

/// `-taxids`.
pub const TAXIDS: Opt<OsString> = Opt::text(
    "taxids",
    RESTRICT,
    &["Restrict search of database to include only the specified taxonomy IDs (multiple IDs \
         delimited by ',')"],
)
.later(&[Change::Help(&[
    "Restrict search of database to include only the specified taxonomy IDs and their descendants \
     (multiple IDs delimited by ',')",
])
.since(&Release::V2_16_0)])
.label("taxids")
.excludes(&all_but::<10>("taxids"));

/// `-negative_taxids`.
pub const NEGATIVE_TAXIDS: Opt<OsString> = Opt::text(
    "negative_taxids",
    RESTRICT,
    &["Restrict search of database to everything except the specified taxonomy IDs (multiple IDs \
         delimited by ',')"],
)
.later(&[Change::Help(&[
    "Restrict search of database to everything except the specified taxonomy IDs and their \
     descendants (multiple IDs delimited by ',')",
])
.since(&Release::V2_16_0)])
.label("taxids")
.excludes(&all_but::<10>("negative_taxids"));

/// `-taxidlist`.
pub const TAXIDLIST: Opt<OsString> = Opt::text(
    "taxidlist",
    RESTRICT,
    &["Restrict search of database to include only the specified taxonomy IDs"],
)
.later(&[Change::Help(&[
    "Restrict search of database to include only the specified taxonomy IDs and their descendants ",
])
.since(&Release::V2_16_0)])
.label("filename")
.excludes(&all_but::<10>("taxidlist"));

/// `-negative_taxidlist`.
pub const NEGATIVE_TAXIDLIST: Opt<OsString> = Opt::text(
    "negative_taxidlist",
    RESTRICT,
    &["Restrict search of database to everything except the specified taxonomy IDs"],
)
.later(&[Change::Help(&[
    "Restrict search of database to everything except the specified taxonomy IDs and their \
     descendants ",
])
.since(&Release::V2_16_0)])
.label("filename")
.excludes(&all_but::<10>("negative_taxidlist"));

/// `-no_taxid_expansion`.
pub const NO_TAXID_EXPANSION: Opt<bool> = Opt::flag(
    "no_taxid_expansion",
    RESTRICT,
    &["Do not expand the taxonomy IDs provided to their descendant taxonomy IDs "],
)
.excludes(&[
    "subject",
    "subject_loc",
    "window_masker_taxid",
    "gilist",
    "seqidlist",
    "negative_gilist",
    "negative_seqidlist",
    "subject",
    "subject_loc",
])
.later(&[Change::Added.since(&Release::V2_16_0)]);

/// `-ipglist`.
pub const IPGLIST: Opt<OsString> =
    Opt::text("ipglist", RESTRICT, &["Restrict search of database to list of IPGs"])
        .label("filename")
        .excludes(&["subject", "subject_loc"])
        .unsupported();

/// `-negative_ipglist`.
pub const NEGATIVE_IPGLIST: Opt<OsString> = Opt::text(
    "negative_ipglist",
    RESTRICT,
    &["Restrict search of database to everything except the specified IPGs"],
)
.label("filename")
.excludes(&["subject", "subject_loc"])
.unsupported();

/// `-entrez_query`.
pub const ENTREZ_QUERY: Opt<OsString> =
    Opt::text("entrez_query", RESTRICT, &["Restrict search with the given Entrez query"])
        .label("entrez_query")
        .requires(&["remote"])
        .unsupported();

/// `-db_soft_mask`.
pub const DB_SOFT_MASK: Opt<OsString> = Opt::text(
    "db_soft_mask",
    RESTRICT,
    &["Filtering algorithm ID to apply to the BLAST database as soft masking"],
)
.label("filtering_algorithm")
.excludes(&["db_hard_mask", "subject", "subject_loc"]);

/// `-db_hard_mask`.
pub const DB_HARD_MASK: Opt<OsString> = Opt::text(
    "db_hard_mask",
    RESTRICT,
    &["Filtering algorithm ID to apply to the BLAST database as hard masking"],
)
.label("filtering_algorithm")
.excludes(&["db_soft_mask", "subject", "subject_loc"]);

/// `-subject`.
pub const SUBJECT: Opt<OsString> =
    Opt::input("subject", SUBJECT_SEQUENCES, &["Subject sequence(s) to search"])
        .label("subject_input_file")
        .excludes(NO_DATABASE.split_at(15).0);

/// `-subject_loc`.
pub const SUBJECT_LOC: Opt<OsString> = Opt::text(
    "subject_loc",
    SUBJECT_SEQUENCES,
    &["Location on the subject sequence in 1-based offsets (Format: start-stop)"],
)
.label("range")
.excludes(&NO_DATABASE);

/// Returns the last `N` + 1 entries of [`EXCLUSIVE`] without the entry `name`.
const fn all_but<const N: usize>(name: &str) -> [&'static str; N] {
    let mut others = [""; N];
    let (mut at, mut next) = (EXCLUSIVE.len() - N - 1, 0);
    while at < EXCLUSIVE.len() {
        if !names_are_equal(EXCLUSIVE[at], name) {
            others[next] = EXCLUSIVE[at];
            next += 1;
        }
        at += 1;
    }
    others
}

/// Lists that restrict the search to a part of the database; at most one is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequenceLists {
    /// `-gilist`, a file.
    pub gis: Option<OsString>,
    /// `-negative_gilist`.
    pub negative_gis: Option<OsString>,
    /// `-seqidlist`, a file.
    pub seqids: Option<OsString>,
    /// `-negative_seqidlist`.
    pub negative_seqids: Option<OsString>,
    /// `-taxids`, the taxids themselves.
    pub taxids: Option<OsString>,
    /// `-negative_taxids`.
    pub negative_taxids: Option<OsString>,
    /// `-taxidlist`, a file.
    pub taxid_file: Option<OsString>,
    /// `-negative_taxidlist`.
    pub negative_taxid_file: Option<OsString>,
    /// `-no_taxid_expansion`.
    pub no_taxid_expansion: bool,
}

/// Values of the options for the database or subjects.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseOptions {
    /// `-db`.
    pub db: Option<OsString>,
    /// `-dbsize`.
    pub dbsize: Option<i64>,
    /// `-seqidlist` and the other lists.
    pub lists: SequenceLists,
    /// `-db_soft_mask`.
    pub db_soft_mask: Option<OsString>,
    /// `-db_hard_mask`.
    pub db_hard_mask: Option<OsString>,
    /// `-subject`.
    pub subject: Option<OsString>,
    /// `-subject_loc`.
    pub subject_loc: Option<OsString>,
}

impl DatabaseOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        let masks = values.has(&DB_SOFT_MASK);
        Self {
            db: values.optional(&DB).map(|db| match values.release().trims_database_names {
                true => OsString::from_vec(trim_spaces(db.as_bytes()).to_vec()),
                false => db,
            }),
            dbsize: values.optional(&DBSIZE),
            lists: SequenceLists {
                gis: values.optional(&GILIST),
                negative_gis: values.optional(&NEGATIVE_GILIST),
                seqids: values.optional(&SEQIDLIST),
                negative_seqids: values.optional(&NEGATIVE_SEQIDLIST),
                taxids: values.optional(&TAXIDS),
                negative_taxids: values.optional(&NEGATIVE_TAXIDS),
                taxid_file: values.optional(&TAXIDLIST),
                negative_taxid_file: values.optional(&NEGATIVE_TAXIDLIST),
                no_taxid_expansion: values.flag_if_listed(&NO_TAXID_EXPANSION),
            },
            db_soft_mask: if masks { values.optional(&DB_SOFT_MASK) } else { None },
            db_hard_mask: if masks { values.optional(&DB_HARD_MASK) } else { None },
            subject: values.optional(&SUBJECT),
            subject_loc: values.optional(&SUBJECT_LOC),
        }
    }
}

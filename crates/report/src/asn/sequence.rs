//! The fields of sequences in ASN.1, in order. Their indexes are the tags in binary files
//! (seqset.asn, seq.asn).

pub const ENTRY: &[&str; 2] = &["seq", "set"];
pub const BIOSEQ: &[&str; 4] = &["id", "descr", "inst", "annot"];
pub const DESCRIPTION: &[&str; 25] = &[
    "mol-type",
    "modif",
    "method",
    "name",
    "title",
    "org",
    "comment",
    "num",
    "maploc",
    "pir",
    "genbank",
    "pub",
    "region",
    "user",
    "sp",
    "dbxref",
    "embl",
    "create-date",
    "update-date",
    "prf",
    "pdb",
    "het",
    "source",
    "molinfo",
    "modelev",
];
pub const TITLE: usize = 4;
pub const INSTANCE: &[&str; 9] =
    &["repr", "mol", "length", "fuzz", "topology", "strand", "seq-data", "ext", "hist"];
pub const DATA: &[&str; 11] = &[
    "iupacna",
    "iupacaa",
    "ncbi2na",
    "ncbi4na",
    "ncbi8na",
    "ncbipna",
    "ncbi8aa",
    "ncbieaa",
    "ncbipaa",
    "ncbistdaa",
    "gap",
];

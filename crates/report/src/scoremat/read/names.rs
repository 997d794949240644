//! The fields of each ASN.1 type, in order. Their indexes are the tags in binary files
//! (scoremat.asn, seq.asn).

pub const WHOLE: &[&str; 2] = &["pssm", "params"];
pub const PSSM: &[&str; 9] = &[
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
pub const INTERMEDIATE: &[&str; 9] = &[
    "resFreqsPerPos",
    "weightedResFreqsPerPos",
    "freqRatios",
    "informationContent",
    "gaplessColumnWeights",
    "sigma",
    "intervalSizes",
    "numMatchingSeqs",
    "numIndeptObsr",
];
pub const FINAL: &[&str; 9] = &[
    "scores",
    "lambda",
    "kappa",
    "h",
    "scalingFactor",
    "lambdaUngapped",
    "kappaUngapped",
    "hUngapped",
    "wordScoreThreshold",
];
pub const PARAMETERS: &[&str; 5] =
    &["pseudocount", "rpsdbparams", "constraints", "bitScoreThresh", "annotatedSites"];
pub const SCORING: &[&str; 3] = &["matrixName", "gapOpen", "gapExtend"];
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

//! The fields of each ASN.1 type, in order. Their indexes are the tags in binary files
//! (scoremat.asn).

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

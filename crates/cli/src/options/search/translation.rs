//! `CGeneticCodeArgs` and `CLargestIntronSizeArgs`: how nucleotides become proteins, and how their
//! alignments are linked.

use fleetblast_seq::translation::GeneticCode;

use super::{GENERAL, QUERY};
use crate::options::constraint::Constraint;
use crate::options::opt::Opt;

/// Numbers of genetic codes that BLAST+ accepts (`CArgAllowGeneticCodeInteger`, blast_args.cpp).
const CODES: Constraint = Constraint::Ranges(&[(1, 6), (9, 16), (21, 31), (33, 33)]);

/// `-query_gencode`.
pub const QUERY_GENCODE: Opt<GeneticCode> = Opt::integer(
    "query_gencode",
    QUERY,
    &[
        "Genetic code to use to translate query (see \
         https://www.ncbi.nlm.nih.gov/Taxonomy/taxonomyhome.html/index.cgi?chapter=cgencodes for \
         details)",
        "",
    ],
)
.label("int_value")
.default("1")
.with_constraint(CODES);

/// `-db_gencode`.
pub const DB_GENCODE: Opt<GeneticCode> = Opt::integer(
    "db_gencode",
    GENERAL,
    &["Genetic code to use to translate database/subjects (see user manual for details)", ""],
)
.label("int_value")
.default("1")
.with_constraint(CODES);

/// `-max_intron_length`.
pub const MAX_INTRON_LENGTH: Opt<i32> = Opt::integer(
    "max_intron_length",
    GENERAL,
    &["Length of the largest intron allowed in a translated nucleotide sequence when linking \
         multiple distinct alignments"],
)
.label("length")
.default("0")
.with_constraint(Constraint::AtLeast(0));

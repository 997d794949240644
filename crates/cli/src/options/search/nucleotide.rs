//! `CNuclArgs`: scores of nucleotides; and the options of `CGenericSearchArgs` for nucleotides
//! only.

use super::{EXTENSION, GENERAL, RESTRICT, STATISTICS};
use crate::options::constraint::Constraint;
use crate::options::opt::Opt;
use crate::options::spec::OptionSpec;
use crate::options::values::Values;

/// The options, in the order of the usage text.
pub const OPTIONS: &[OptionSpec] = &[PENALTY.spec, REWARD.spec, NO_GREEDY.spec];

/// `-penalty`.
pub const PENALTY: Opt<i32> =
    Opt::integer("penalty", GENERAL, &["Penalty for a nucleotide mismatch"])
        .label("penalty")
        .with_constraint(Constraint::AtMost(0));

/// `-reward`.
pub const REWARD: Opt<i32> = Opt::integer("reward", GENERAL, &["Reward for a nucleotide match"])
    .label("reward")
    .with_constraint(Constraint::AtLeast(0));

/// `-no_greedy`.
pub const NO_GREEDY: Opt<bool> =
    Opt::flag("no_greedy", EXTENSION, &["Use non-greedy dynamic programming extension"]);

/// `-perc_identity`.
pub const PERC_IDENTITY: Opt<f64> = Opt::real("perc_identity", RESTRICT, &["Percent identity"])
    .label("float_value")
    .with_constraint(Constraint::Percent);

/// `-sum_stats`.
pub const SUM_STATS: Opt<bool> =
    Opt::boolean("sum_stats", STATISTICS, &["Use sum statistics"]).label("bool_value");

/// Values of the options for scores of nucleotides.
#[derive(Clone, Debug, PartialEq)]
pub struct NucleotideOptions {
    /// `-penalty`.
    pub penalty: Option<i32>,
    /// `-reward`.
    pub reward: Option<i32>,
    /// `-no_greedy`.
    pub no_greedy: bool,
    /// `-perc_identity`.
    pub perc_identity: Option<f64>,
    /// `-sum_stats`.
    pub sum_stats: Option<bool>,
}

impl NucleotideOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            penalty: values.optional(&PENALTY),
            reward: values.optional(&REWARD),
            no_greedy: values.get(&NO_GREEDY),
            perc_identity: values.optional(&PERC_IDENTITY),
            sum_stats: values.optional_if_listed(&SUM_STATS),
        }
    }
}

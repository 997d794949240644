//! `CHspFilteringArgs`: filters that remove HSPs because of better ones.

use fleetblast_stats::release::Release;

use super::RESTRICT;
use crate::options::constraint::Constraint;
use crate::options::later::Change;
use crate::options::opt::Opt;
use crate::options::spec::OptionSpec;
use crate::options::values::Values;

/// The options, in the order of the usage text.
pub const OPTIONS: &[OptionSpec] =
    &[CULLING_LIMIT.spec, BEST_HIT_OVERHANG.spec, BEST_HIT_SCORE_EDGE.spec, SUBJECT_BESTHIT.spec];

/// `-culling_limit`.
pub const CULLING_LIMIT: Opt<u32> = Opt::integer(
    "culling_limit",
    RESTRICT,
    &["If the query range of a hit is enveloped by that of at least this many higher-scoring \
         hits, delete the hit"],
)
.label("int_value")
.with_constraint(Constraint::AtLeast(0))
.excludes(&["best_hit_overhang", "best_hit_score_edge"]);

/// `-best_hit_overhang`.
pub const BEST_HIT_OVERHANG: Opt<f64> = Opt::real(
    "best_hit_overhang",
    RESTRICT,
    &["Best Hit algorithm overhang value (recommended value: 0.1)"],
)
.label("float_value")
.with_constraint(Constraint::BelowHalf)
.excludes(&["culling_limit"]);

/// `-best_hit_score_edge`.
pub const BEST_HIT_SCORE_EDGE: Opt<f64> = Opt::real(
    "best_hit_score_edge",
    RESTRICT,
    &["Best Hit algorithm score edge value (recommended value: 0.1)"],
)
.label("float_value")
.with_constraint(Constraint::BelowHalf)
.excludes(&["culling_limit"]);

/// `-subject_besthit`.
pub const SUBJECT_BESTHIT: Opt<bool> =
    Opt::flag("subject_besthit", RESTRICT, &["Turn on best hit per subject sequence"]).later(&[
        Change::Help(&["Return only the best HSP for each non overlapping query region"])
            .since(&Release::V2_17_0),
    ]);

/// Values of the options for HSP filters.
#[derive(Clone, Debug, PartialEq)]
pub struct HspFilteringOptions {
    /// `-culling_limit`.
    pub culling_limit: Option<u32>,
    /// `-best_hit_overhang`.
    pub best_hit_overhang: Option<f64>,
    /// `-best_hit_score_edge`.
    pub best_hit_score_edge: Option<f64>,
    /// `-subject_besthit`.
    pub subject_besthit: bool,
}

impl HspFilteringOptions {
    /// Reads the values of the options.
    pub fn read(values: &Values<'_>) -> Self {
        Self {
            culling_limit: values.optional(&CULLING_LIMIT),
            best_hit_overhang: values.optional(&BEST_HIT_OVERHANG),
            best_hit_score_edge: values.optional(&BEST_HIT_SCORE_EDGE),
            subject_besthit: values.get(&SUBJECT_BESTHIT),
        }
    }
}

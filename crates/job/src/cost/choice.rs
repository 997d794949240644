//! Chooses the cheapest encoding of a block of queries.

use fleetblast_metadata::Encoding;
use serde::{Deserialize, Serialize};

/// Two encodings count as equally fast if their times differ by less than this factor, because the
/// times are estimates.
const EQUALLY_FAST: f64 = 1.02;

/// Expected cost of a block with one encoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The encoding.
    pub encoding: Encoding,
    /// Number of bytes that go over the link.
    pub bytes: f64,
    /// Seconds of encoding, during which the search waits.
    pub encode_seconds: f64,
    /// Seconds that the other site takes for the report.
    pub report_seconds: f64,
}

/// Conditions under which an encoding is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChoiceConditions {
    /// Seconds that the search of a block takes.
    pub search: f64,
    /// Bytes per second over the link; `None` for a file, and until the link was measured.
    pub rate: Option<f64>,
    /// Maximum size of an encoding, as a share of the report's bytes. Larger encodings are not
    /// used.
    pub limit: f64,
}

/// Reason for the choice of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceReason {
    /// All other encodings exceed the allowed share of the report's bytes.
    Limit,
    /// The encoding has the fewest bytes, and the speed of the link is unknown.
    LeastBytes,
    /// Every other encoding takes longer, because the link or the other site delays the search.
    Fastest,
    /// No other encoding is faster, and this one needs the least work in total.
    LeastWork,
}

/// Chooses an encoding and returns the reason.
///
/// The search, the link and the other site work concurrently. The best encoding is the one whose
/// slowest stage ends first. Among equally fast encodings, it is the one with the least work in
/// total. The latency of the link does not count, because it is the same for every encoding.
///
/// `costs` must contain the cost of the report encoding.
pub fn choose_encoding(costs: &[Cost], conditions: &ChoiceConditions) -> (Encoding, ChoiceReason) {
    let report = costs.iter().find(|cost| cost.encoding == Encoding::Report);
    let most = report.map_or(f64::INFINITY, |report| conditions.limit * report.bytes);
    let is_allowed = |cost: &&Cost| cost.encoding == Encoding::Report || cost.bytes <= most;
    let candidates: Vec<&Cost> = costs.iter().filter(is_allowed).collect();
    if let [only] = candidates[..] {
        return (only.encoding, ChoiceReason::Limit);
    }
    let least = |of: &dyn Fn(&Cost) -> f64, among: &[&Cost]| {
        let first = among.iter().min_by(|a, b| of(a).total_cmp(&of(b)));
        first.map_or(Encoding::Report, |cost| cost.encoding)
    };
    let Some(rate) = conditions.rate else {
        return (least(&|cost| cost.bytes, &candidates), ChoiceReason::LeastBytes);
    };
    let stages = |cost: &Cost| {
        [conditions.search + cost.encode_seconds, cost.bytes / rate, cost.report_seconds]
    };
    let slowest = |cost: &Cost| stages(cost).into_iter().fold(0.0, f64::max);
    let fastest = candidates.iter().map(|cost| slowest(cost)).fold(f64::INFINITY, f64::min);
    let fast: Vec<&Cost> =
        candidates.iter().copied().filter(|cost| slowest(cost) <= EQUALLY_FAST * fastest).collect();
    let reason = if fast.len() > 1 { ChoiceReason::LeastWork } else { ChoiceReason::Fastest };
    (least(&|cost| stages(cost).iter().sum(), &fast), reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Costs measured with 25 protein queries in a database of 72 million letters.
    const MEASURED: [Cost; 3] = [
        Cost {
            encoding: Encoding::Oids,
            bytes: 11_470.0,
            encode_seconds: 0.02,
            report_seconds: 0.25,
        },
        Cost {
            encoding: Encoding::Hits,
            bytes: 36_630.0,
            encode_seconds: 0.03,
            report_seconds: 0.02,
        },
        Cost {
            encoding: Encoding::Report,
            bytes: 480_000.0,
            encode_seconds: 0.04,
            report_seconds: 0.001,
        },
    ];

    fn conditions(search: f64, rate: f64) -> ChoiceConditions {
        ChoiceConditions { search, rate: Some(rate), limit: 0.5 }
    }

    #[test]
    fn the_slower_the_link_the_smaller_the_encoding() {
        let chosen = |search, rate| choose_encoding(&MEASURED, &conditions(search, rate));
        assert_eq!(chosen(3.8, 1e9), (Encoding::Report, ChoiceReason::LeastWork));
        // Sending the report would take 0.5 s. The other site makes it from hits in less time.
        assert_eq!(chosen(0.1, 1e6), (Encoding::Hits, ChoiceReason::Fastest));
        // The report delays nothing, but hits are less work.
        assert_eq!(chosen(3.8, 1e6), (Encoding::Hits, ChoiceReason::LeastWork));
        assert_eq!(chosen(0.1, 2e4), (Encoding::Oids, ChoiceReason::Fastest));
    }

    #[test]
    fn a_slow_other_site_does_not_search_again() {
        let slow = [
            Cost { report_seconds: 60.0, ..MEASURED[0] },
            Cost { report_seconds: 5.0, ..MEASURED[1] },
            MEASURED[2],
        ];
        assert_eq!(
            choose_encoding(&slow, &conditions(1.0, 2e4)),
            (Encoding::Hits, ChoiceReason::Fastest)
        );
        assert_eq!(
            choose_encoding(&slow, &conditions(1.0, 1e6)),
            (Encoding::Report, ChoiceReason::Fastest)
        );
    }

    #[test]
    fn the_fewest_bytes_win_on_an_unknown_link() {
        let unknown = ChoiceConditions { rate: None, ..conditions(1.0, 1.0) };
        assert_eq!(
            choose_encoding(&MEASURED, &unknown),
            (Encoding::Oids, ChoiceReason::LeastBytes)
        );
        // This block cannot be sent as OIDs.
        assert_eq!(
            choose_encoding(&MEASURED[1..], &unknown),
            (Encoding::Hits, ChoiceReason::LeastBytes)
        );
    }

    #[test]
    fn an_encoding_about_as_large_as_the_report_is_not_chosen() {
        let limited =
            |limit| choose_encoding(&MEASURED, &ChoiceConditions { limit, ..conditions(0.1, 2e4) });
        assert_eq!(limited(0.05), (Encoding::Oids, ChoiceReason::Fastest));
        assert_eq!(limited(0.01), (Encoding::Report, ChoiceReason::Limit));
        assert_eq!(limited(0.0), (Encoding::Report, ChoiceReason::Limit));
        // Queries without hits have a report of a few lines.
        let few = MEASURED.map(|cost| Cost { bytes: 100.0, ..cost });
        assert_eq!(
            choose_encoding(&few, &conditions(0.1, 2e4)),
            (Encoding::Report, ChoiceReason::Limit)
        );
    }

    #[test]
    fn non_finite_costs_do_not_panic() {
        for odd in [0.0, f64::INFINITY, f64::NAN] {
            let costs = MEASURED.map(|cost| Cost {
                bytes: odd,
                encode_seconds: odd,
                report_seconds: odd,
                ..cost
            });
            choose_encoding(&costs, &conditions(odd, odd));
            choose_encoding(&[], &conditions(odd, odd));
        }
    }
}

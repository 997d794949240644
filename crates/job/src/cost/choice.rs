//! As what a block of queries is told most cheaply.

use fleetblast_metadata::Encoding;
use serde::{Deserialize, Serialize};

/// What takes this much longer than the fastest is as fast: nothing is known more exactly.
const AS_FAST: f64 = 1.02;

/// What a block is expected to cost as one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// As what.
    pub kind: Encoding,
    /// Bytes on the link.
    pub bytes: f64,
    /// Seconds to make it, for which the search waits.
    pub make: f64,
    /// Seconds at the other site to make the report of it.
    pub again: f64,
}

/// What else the choice depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// Seconds that the search of a block takes.
    pub search: f64,
    /// Bytes a second over the link; nothing of a file that somebody carries, and as long as nothing was seen.
    pub rate: Option<f64>,
    /// What has more than this share of the report's bytes is not worth it.
    pub limit: f64,
}

/// Why a kind was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The others have more than the limited share of the report's bytes.
    Limit,
    /// It has the least bytes; it is not known how long they take.
    LeastBytes,
    /// The others would hold the search up, by the link or by the other site.
    Fastest,
    /// None holds the search up any longer than others, and it is the least work in all.
    LeastWork,
}

/// The kind to take, and why: that with which the slowest of search, link and other site, which work at the same time, is through with a
/// block first, and of several such the one that is the least work of all three. The delay of a link is the same for every kind.
///
/// `costs` has at least the report's.
pub fn choose(costs: &[Cost], outlook: &Outlook) -> (Encoding, Reason) {
    let report = costs.iter().find(|cost| cost.kind == Encoding::Report);
    let most = report.map_or(f64::INFINITY, |report| outlook.limit * report.bytes);
    let worth_it = |cost: &&Cost| cost.kind == Encoding::Report || cost.bytes <= most;
    let candidates: Vec<&Cost> = costs.iter().filter(worth_it).collect();
    if let [only] = candidates[..] {
        return (only.kind, Reason::Limit);
    }
    let least = |of: &dyn Fn(&Cost) -> f64, among: &[&Cost]| {
        let first = among.iter().min_by(|a, b| of(a).total_cmp(&of(b)));
        first.map_or(Encoding::Report, |cost| cost.kind)
    };
    let Some(rate) = outlook.rate else {
        return (least(&|cost| cost.bytes, &candidates), Reason::LeastBytes);
    };
    let stages = |cost: &Cost| [outlook.search + cost.make, cost.bytes / rate, cost.again];
    let slowest = |cost: &Cost| stages(cost).into_iter().fold(0.0, f64::max);
    let fastest = candidates.iter().map(|cost| slowest(cost)).fold(f64::INFINITY, f64::min);
    let fast: Vec<&Cost> =
        candidates.iter().copied().filter(|cost| slowest(cost) <= AS_FAST * fastest).collect();
    let reason = if fast.len() > 1 { Reason::LeastWork } else { Reason::Fastest };
    (least(&|cost| stages(cost).iter().sum(), &fast), reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was measured of 25 proteins in 72 million letters.
    const MEASURED: [Cost; 3] = [
        Cost { kind: Encoding::Oids, bytes: 11_470.0, make: 0.02, again: 0.25 },
        Cost { kind: Encoding::Hits, bytes: 36_630.0, make: 0.03, again: 0.02 },
        Cost { kind: Encoding::Report, bytes: 480_000.0, make: 0.04, again: 0.001 },
    ];

    fn outlook(search: f64, rate: f64) -> Outlook {
        Outlook { search, rate: Some(rate), limit: 0.5 }
    }

    #[test]
    fn a_fast_link_gets_the_report_and_slower_ones_ever_less() {
        let chosen = |search, rate| choose(&MEASURED, &outlook(search, rate));
        assert_eq!(chosen(3.8, 1e9), (Encoding::Report, Reason::LeastWork));
        // The report would take 0.5 s, within which the other site makes it of alignments.
        assert_eq!(chosen(0.1, 1e6), (Encoding::Hits, Reason::Fastest));
        // It holds nothing up, but hits are less work.
        assert_eq!(chosen(3.8, 1e6), (Encoding::Hits, Reason::LeastWork));
        assert_eq!(chosen(0.1, 2e4), (Encoding::Oids, Reason::Fastest));
    }

    #[test]
    fn a_slow_other_site_does_not_search_again() {
        let slow =
            [Cost { again: 60.0, ..MEASURED[0] }, Cost { again: 5.0, ..MEASURED[1] }, MEASURED[2]];
        assert_eq!(choose(&slow, &outlook(1.0, 2e4)), (Encoding::Hits, Reason::Fastest));
        assert_eq!(choose(&slow, &outlook(1.0, 1e6)), (Encoding::Report, Reason::Fastest));
    }

    #[test]
    fn of_an_unknown_link_only_bytes_count() {
        let unknown = Outlook { rate: None, ..outlook(1.0, 1.0) };
        assert_eq!(choose(&MEASURED, &unknown), (Encoding::Oids, Reason::LeastBytes));
        // Blocks whose subjects are not found again.
        assert_eq!(choose(&MEASURED[1..], &unknown), (Encoding::Hits, Reason::LeastBytes));
    }

    #[test]
    fn what_is_hardly_smaller_than_the_report_is_not_worth_it() {
        let limited = |limit| choose(&MEASURED, &Outlook { limit, ..outlook(0.1, 2e4) });
        assert_eq!(limited(0.05), (Encoding::Oids, Reason::Fastest));
        assert_eq!(limited(0.01), (Encoding::Report, Reason::Limit));
        assert_eq!(limited(0.0), (Encoding::Report, Reason::Limit));
        // Queries without hits: a report of a few lines.
        let few = MEASURED.map(|cost| Cost { bytes: 100.0, ..cost });
        assert_eq!(choose(&few, &outlook(0.1, 2e4)), (Encoding::Report, Reason::Limit));
    }

    #[test]
    fn odd_figures_are_an_answer() {
        for odd in [0.0, f64::INFINITY, f64::NAN] {
            let costs = MEASURED.map(|cost| Cost { bytes: odd, make: odd, again: odd, ..cost });
            choose(&costs, &outlook(odd, odd));
            choose(&[], &outlook(odd, odd));
        }
    }
}

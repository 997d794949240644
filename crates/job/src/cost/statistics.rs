//! Measured costs of metadata by encoding. They determine the choice of an encoding, and `-timing`
//! prints them.

use std::time::Duration;

use fleetblast_metadata::Encoding;
use serde::{Deserialize, Serialize};

use super::{ChoiceReason, Cost};

/// Factor by which each new observation reduces the weight of all earlier ones.
const DECAY: f64 = 0.75;

/// All encodings with the names that users type.
pub const ENCODINGS: [(Encoding, &str); 3] =
    [(Encoding::Oids, "oids"), (Encoding::Hits, "hits"), (Encoding::Report, "report")];

/// Costs and choices of metadata, for `-timing`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EncodingCosts {
    /// Statistics of each encoding, in the order of [`ENCODINGS`].
    pub kinds: Vec<EncodingStatistics>,
    /// Last measurement of the link, if there is one.
    pub link: Option<LinkStatistics>,
    /// Encodings chosen for consecutive blocks; on ranks, those of all masters.
    pub choices: Vec<ChosenEncoding>,
}

/// Statistics of an encoding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EncodingStatistics {
    /// The encoding.
    #[serde(with = "named")]
    pub kind: Encoding,
    /// Number of blocks sent in this encoding.
    pub blocks: u64,
    /// Bytes of the records of the blocks that were sent in this encoding.
    pub bytes: u64,
    /// Number of blocks encoded in this encoding, whether they were sent or only compared.
    pub encoded_blocks: u64,
    /// Bytes of the results of all blocks that were encoded in this encoding.
    pub encoded_bytes: u64,
    /// Seconds of encoding in total, during which the search waited.
    pub encode_seconds: f64,
    #[serde(skip)]
    recent: RecentSums,
}

/// Measurements of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkStatistics {
    /// Rate in bytes per second; `None` if too little was sent to measure it.
    pub bytes_per_second: Option<f64>,
    /// Time of a round trip to the other site, in seconds.
    pub round_trip_seconds: f64,
    /// Number of threads that make the report at the other site.
    pub workers: u32,
}

/// Consecutive blocks with the same encoding for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChosenEncoding {
    /// Number of the first of the consecutive blocks, counted from the start of this run.
    pub block: u64,
    /// Number of consecutive blocks.
    pub blocks: u64,
    /// Encoding of the consecutive blocks.
    #[serde(with = "named")]
    pub kind: Encoding,
    /// Reason for the encoding.
    pub why: ChoiceReason,
}

/// Sums in which recent observations weigh more.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct RecentSums {
    weight: f64,
    bytes: f64,
    encode: f64,
    format: f64,
}

impl EncodingCosts {
    /// Creates statistics without observations.
    pub fn new() -> Self {
        let of = |(kind, _)| EncodingStatistics {
            kind,
            blocks: 0,
            bytes: 0,
            encoded_blocks: 0,
            encoded_bytes: 0,
            encode_seconds: 0.0,
            recent: RecentSums::default(),
        };
        EncodingCosts { kinds: ENCODINGS.map(of).to_vec(), ..EncodingCosts::default() }
    }

    /// Records that a block was encoded to this number of bytes, and the times of encoding it and
    /// of formatting its report. `weight` is the size of the block: costs are proportional to it.
    pub fn record_encoded(
        &mut self,
        kind: Encoding,
        weight: f64,
        bytes: usize,
        [encode, format]: [Duration; 2],
    ) {
        let statistics = self.statistics_of(kind);
        statistics.encoded_blocks += 1;
        statistics.encoded_bytes += bytes as u64;
        statistics.encode_seconds += encode.as_secs_f64();
        let RecentSums { weight: w, bytes: b, encode: m, format: f } = statistics.recent;
        statistics.recent = RecentSums {
            weight: DECAY * w + weight,
            bytes: DECAY * b + bytes as f64,
            encode: DECAY * m + encode.as_secs_f64(),
            format: DECAY * f + format.as_secs_f64(),
        };
    }

    /// Records that a block was sent in an encoding, with this number of bytes.
    pub fn record_sent(&mut self, kind: Encoding, bytes: usize) {
        let statistics = self.statistics_of(kind);
        statistics.blocks += 1;
        statistics.bytes += bytes as u64;
    }

    /// Records the encoding chosen for a block.
    pub fn record_choice(&mut self, block: u64, kind: Encoding, why: ChoiceReason) {
        match self.choices.last_mut() {
            Some(last) if (last.kind, last.why) == (kind, why) => last.blocks += 1,
            _ => self.choices.push(ChosenEncoding { block, blocks: 1, kind, why }),
        }
    }

    /// Estimates the cost of encoding a block of this weight, with `report_seconds` 0. Also returns
    /// the seconds that formatting the block's report takes. Returns `None` for an encoding that
    /// was never used.
    pub fn expected_cost(&mut self, kind: Encoding, weight: f64) -> Option<(Cost, f64)> {
        let RecentSums { weight: of, bytes, encode, format } = self.statistics_of(kind).recent;
        let times = weight / of;
        let cost = Cost {
            encoding: kind,
            bytes: times * bytes,
            encode_seconds: times * encode,
            report_seconds: 0.0,
        };
        (of > 0.0).then_some((cost, times * format))
    }

    /// Adds the statistics of another master.
    pub fn merge(&mut self, other: EncodingCosts) {
        for (statistics, more) in self.kinds.iter_mut().zip(other.kinds) {
            statistics.blocks += more.blocks;
            statistics.bytes += more.bytes;
            statistics.encoded_blocks += more.encoded_blocks;
            statistics.encoded_bytes += more.encoded_bytes;
            statistics.encode_seconds += more.encode_seconds;
        }
        self.link = self.link.or(other.link);
        self.choices.extend(other.choices);
        self.choices.sort_by_key(|chosen| chosen.block);
    }

    fn statistics_of(&mut self, kind: Encoding) -> &mut EncodingStatistics {
        &mut self.kinds[kind as usize]
    }
}

/// Serialises an encoding as its name.
mod named {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{ENCODINGS, Encoding};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
    pub fn serialize<S: Serializer>(kind: &Encoding, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(ENCODINGS[*kind as usize].1)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Encoding, D::Error> {
        let name = String::deserialize(from)?;
        let kind = ENCODINGS.into_iter().find(|&(_, other)| other == name).map(|(kind, _)| kind);
        kind.ok_or_else(|| D::Error::custom("no kind of metadata"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_observations_dominate_the_expected_cost() {
        let mut costs = EncodingCosts::new();
        assert_eq!(costs.expected_cost(Encoding::Hits, 1.0), None);
        let seconds = Duration::from_secs;
        costs.record_encoded(Encoding::Hits, 10.0, 1000, [seconds(2), seconds(0)]);
        let (cost, format) = costs.expected_cost(Encoding::Hits, 5.0).unwrap();
        assert_eq!((cost.bytes, cost.encode_seconds, format), (500.0, 1.0, 0.0));
        for _ in 0..40 {
            costs.record_encoded(Encoding::Hits, 10.0, 3000, [seconds(2), seconds(1)]);
        }
        let (cost, format) = costs.expected_cost(Encoding::Hits, 10.0).unwrap();
        assert!((cost.bytes - 3000.0).abs() < 1.0 && (format - 1.0).abs() < 0.01);
        assert_eq!(costs.expected_cost(Encoding::Oids, 1.0), None);
    }

    #[test]
    fn consecutive_equal_choices_are_merged() {
        let mut costs = EncodingCosts::new();
        let kinds = [Encoding::Oids, Encoding::Oids, Encoding::Report, Encoding::Oids];
        for (block, kind) in (0..).zip(kinds) {
            costs.record_choice(block, kind, ChoiceReason::Fastest);
        }
        let recorded: Vec<_> =
            costs.choices.iter().map(|it| (it.block, it.blocks, it.kind)).collect();
        assert_eq!(
            recorded,
            [(0, 2, Encoding::Oids), (2, 1, Encoding::Report), (3, 1, Encoding::Oids)]
        );
    }

    #[test]
    fn the_choices_of_masters_are_merged_by_block() {
        let mut accounts = [EncodingCosts::new(), EncodingCosts::new()];
        for (number, costs) in accounts.iter_mut().enumerate() {
            costs.record_encoded(Encoding::Hits, 1.0, 10, [Duration::from_secs(1), Duration::ZERO]);
            costs.record_sent(Encoding::Hits, 12);
            costs.record_choice(5 - number as u64, Encoding::Hits, ChoiceReason::Fastest);
        }
        let [mut first, second] = accounts;
        let sent = postcard::to_allocvec(&second).unwrap();
        first.merge(postcard::from_bytes(&sent).unwrap());
        let hits = &first.kinds[Encoding::Hits as usize];
        assert_eq!(
            (hits.blocks, hits.bytes, hits.encoded_bytes, hits.encode_seconds),
            (2, 24, 20, 2.0)
        );
        assert_eq!(first.choices.iter().map(|it| it.block).collect::<Vec<_>>(), [4, 5]);
        let recorded = serde_json::to_value(&first).unwrap();
        assert_eq!(recorded["choices"][0]["kind"], "hits");
    }
}

//! What metadata have cost so far, by kind: what is chosen by, and what `-timing` tells.

use std::time::Duration;

use fleetblast_metadata::Encoding;
use serde::{Deserialize, Serialize};

use super::{Cost, Reason};

/// What is seen anew counts this much more than what was seen one time earlier.
const FADING: f64 = 0.75;

/// The kinds, as they are typed.
pub const NAMES: [(Encoding, &str); 3] =
    [(Encoding::Oids, "oids"), (Encoding::Hits, "hits"), (Encoding::Report, "report")];

/// How metadata went, for `-timing`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Each kind.
    pub kinds: Vec<OfKind>,
    /// The link, as it was seen in the end.
    pub link: Option<Seen>,
    /// What was chosen, from block to block; on ranks, by whoever merges them.
    pub choices: Vec<Chosen>,
}

/// What became of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfKind {
    /// Which.
    #[serde(with = "named")]
    pub kind: Encoding,
    /// Blocks that crossed so.
    pub blocks: u64,
    /// Bytes of their records.
    pub bytes: u64,
    /// Of all that were made, whether they crossed or only were looked at: how many.
    pub made_blocks: u64,
    /// Bytes of what was found in these.
    pub made_bytes: u64,
    /// Seconds to make them, for which the search waited.
    pub make_seconds: f64,
    #[serde(skip)]
    recent: Recent,
}

/// A link, as it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Bytes a second; nothing if too little crossed to know.
    pub bytes_per_second: Option<f64>,
    /// From here to the other site and back.
    pub round_trip_seconds: f64,
    /// Who makes the report there: threads.
    pub workers: u32,
}

/// Blocks one after the other of which the same was chosen for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// The first of them, of this run.
    pub block: u64,
    /// How many.
    pub blocks: u64,
    /// As what they crossed.
    #[serde(with = "named")]
    pub kind: Encoding,
    /// Why.
    pub why: Reason,
}

/// Sums in which the latest counts most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Recent {
    weight: f64,
    bytes: f64,
    make: f64,
    format: f64,
}

impl Account {
    /// Of nothing yet.
    pub fn new() -> Self {
        let of = |(kind, _)| OfKind {
            kind,
            blocks: 0,
            bytes: 0,
            made_blocks: 0,
            made_bytes: 0,
            make_seconds: 0.0,
            recent: Recent::default(),
        };
        Account { kinds: NAMES.map(of).to_vec(), ..Account::default() }
    }

    /// A block of that weight was made as a kind, of which so much time went into formatting.
    pub fn made(
        &mut self,
        kind: Encoding,
        weight: f64,
        bytes: usize,
        [make, format]: [Duration; 2],
    ) {
        let own = self.of(kind);
        own.made_blocks += 1;
        own.made_bytes += bytes as u64;
        own.make_seconds += make.as_secs_f64();
        let Recent { weight: w, bytes: b, make: m, format: f } = own.recent;
        own.recent = Recent {
            weight: FADING * w + weight,
            bytes: FADING * b + bytes as f64,
            make: FADING * m + make.as_secs_f64(),
            format: FADING * f + format.as_secs_f64(),
        };
    }

    /// It crossed so.
    pub fn crossed(&mut self, kind: Encoding, bytes: usize) {
        let own = self.of(kind);
        own.blocks += 1;
        own.bytes += bytes as u64;
    }

    /// It was chosen as that.
    pub fn chose(&mut self, block: u64, kind: Encoding, why: Reason) {
        match self.choices.last_mut() {
            Some(last) if (last.kind, last.why) == (kind, why) => last.blocks += 1,
            _ => self.choices.push(Chosen { block, blocks: 1, kind, why }),
        }
    }

    /// What a block of that weight is expected to cost as a kind whose report the other site makes
    /// in so many seconds, and in how many its report is formatted here; nothing of a kind that was
    /// never made.
    pub fn expected(&mut self, kind: Encoding, weight: f64) -> Option<(Cost, f64)> {
        let Recent { weight: of, bytes, make, format } = self.of(kind).recent;
        let times = weight / of;
        let cost = Cost { kind, bytes: times * bytes, make: times * make, again: 0.0 };
        (of > 0.0).then_some((cost, times * format))
    }

    /// Takes in what another master tells.
    pub fn join(&mut self, other: Account) {
        for (own, more) in self.kinds.iter_mut().zip(other.kinds) {
            own.blocks += more.blocks;
            own.bytes += more.bytes;
            own.made_blocks += more.made_blocks;
            own.made_bytes += more.made_bytes;
            own.make_seconds += more.make_seconds;
        }
        self.link = self.link.or(other.link);
        self.choices.extend(other.choices);
        self.choices.sort_by_key(|chosen| chosen.block);
    }

    fn of(&mut self, kind: Encoding) -> &mut OfKind {
        &mut self.kinds[kind as usize]
    }
}

/// Serialises encodings by their names.
mod named {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Encoding, NAMES};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
    pub fn serialize<S: Serializer>(kind: &Encoding, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(NAMES[*kind as usize].1)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Encoding, D::Error> {
        let name = String::deserialize(from)?;
        let kind = NAMES.into_iter().find(|&(_, other)| other == name).map(|(kind, _)| kind);
        kind.ok_or_else(|| D::Error::custom("no kind of metadata"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_follows_what_was_seen_last() {
        let mut account = Account::new();
        assert_eq!(account.expected(Encoding::Hits, 1.0), None);
        let seconds = Duration::from_secs;
        account.made(Encoding::Hits, 10.0, 1000, [seconds(2), seconds(0)]);
        let (cost, format) = account.expected(Encoding::Hits, 5.0).unwrap();
        assert_eq!((cost.bytes, cost.make, format), (500.0, 1.0, 0.0));
        for _ in 0..40 {
            account.made(Encoding::Hits, 10.0, 3000, [seconds(2), seconds(1)]);
        }
        let (cost, format) = account.expected(Encoding::Hits, 10.0).unwrap();
        assert!((cost.bytes - 3000.0).abs() < 1.0 && (format - 1.0).abs() < 0.01);
        assert_eq!(account.expected(Encoding::Oids, 1.0), None);
    }

    #[test]
    fn blocks_of_one_choice_are_told_together() {
        let mut account = Account::new();
        let kinds = [Encoding::Oids, Encoding::Oids, Encoding::Report, Encoding::Oids];
        for (block, kind) in (0..).zip(kinds) {
            account.chose(block, kind, Reason::Fastest);
        }
        let told: Vec<_> =
            account.choices.iter().map(|it| (it.block, it.blocks, it.kind)).collect();
        assert_eq!(
            told,
            [(0, 2, Encoding::Oids), (2, 1, Encoding::Report), (3, 1, Encoding::Oids)]
        );
    }

    #[test]
    fn masters_tell_together_what_each_chose() {
        let mut accounts = [Account::new(), Account::new()];
        for (number, account) in accounts.iter_mut().enumerate() {
            account.made(Encoding::Hits, 1.0, 10, [Duration::from_secs(1), Duration::ZERO]);
            account.crossed(Encoding::Hits, 12);
            account.chose(5 - number as u64, Encoding::Hits, Reason::Fastest);
        }
        let [mut first, second] = accounts;
        let sent = postcard::to_allocvec(&second).unwrap();
        first.join(postcard::from_bytes(&sent).unwrap());
        let hits = &first.kinds[Encoding::Hits as usize];
        assert_eq!((hits.blocks, hits.bytes, hits.made_bytes, hits.make_seconds), (2, 24, 20, 2.0));
        assert_eq!(first.choices.iter().map(|it| it.block).collect::<Vec<_>>(), [4, 5]);
        let told = serde_json::to_value(&first).unwrap();
        assert_eq!(told["choices"][0]["kind"], "hits");
    }
}

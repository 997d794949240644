//! Records that the other site has since an earlier run of the same search, and that are made again.

use fleetblast_metadata::Kinds;
use fleetblast_metadata::follow::{Follower, Reached};
use fleetblast_metadata::records::{Chain, RecordKind, START_BYTES};

use super::carrier::ANOTHER_RECEIVER;
use crate::error::{Error, exit};

/// Passes over what the other site has, and holds that it is the same.
pub struct Passing {
    there: Reached,
    chain: Chain,
    /// How far the records here are, as they are at the other site.
    at: u64,
    /// Where blocks may cross as other kinds than in that run, of which queries these are.
    here: Option<Box<Follower>>,
}

impl Passing {
    /// Nothing is passed of what is there.
    ///
    /// # Errors
    /// None.
    pub fn new(there: Reached, kinds: Kinds) -> Result<Self, Error> {
        let mut here = (kinds == Kinds::Cheapest).then(Box::<Follower>::default);
        here.as_mut().map_or(Ok(()), |here| here.take(&Chain::start())).map_err(Error::engine)?;
        Ok(Passing { there, chain: Chain::default(), at: START_BYTES as u64, here })
    }

    /// Passes over the next record; whether the other site has nothing after it.
    ///
    /// # Errors
    /// It has something else.
    pub fn is_last(&mut self, kind: RecordKind, body: &[u8]) -> Result<bool, Error> {
        let record = self.chain.record(kind, body).map_err(Error::output)?;
        self.at += record.len() as u64;
        let Passing { there, chain, at, here } = self;
        let (is_before, is_same) = match here {
            None => (*at < there.whole, (*at, chain.last()) == (there.whole, there.last)),
            Some(here) => {
                here.take(&record).map_err(Error::engine)?;
                let here = here.reached();
                let is_before = here.queries < there.queries || (there.ended && !here.ended);
                let facts = |of: &Reached| (of.header, of.blocks, of.queries, of.digest, of.ended);
                (is_before, facts(here) == facts(there))
            }
        };
        match (is_before, is_same) {
            (true, _) if kind != RecordKind::End => Ok(false),
            (false, true) => Ok(true),
            _ => Err(other_queries()),
        }
    }
}

/// The other site holds other queries than those that are read, or other blocks of them.
pub fn other_queries() -> Error {
    let what = format!(
        "the other site holds metadata of other queries of the same search, or of other blocks of \
         them: {ANOTHER_RECEIVER}"
    );
    Error::new(exit::INPUT, what)
}

#[cfg(test)]
mod tests {
    use fleetblast_metadata::records::RecordKind::{Block, End, Header};
    use fleetblast_metadata::{self as metadata, Found, Kind};

    use super::*;

    /// The body of a block with a query of that number, whose report is this.
    fn block(number: u64, report: &str) -> Vec<u8> {
        titled_block("", number, report)
    }

    fn titled_block(title: &str, number: u64, report: &str) -> Vec<u8> {
        let query = metadata::Query {
            title: title.as_bytes().to_vec(),
            ids: Vec::new(),
            letters: vec![1; 9],
            lower_case: Vec::new(),
            number,
            unnamed: number,
            range: None,
            messages: Vec::new(),
        };
        let found = Found::report(&[report.as_bytes().to_vec()]).unwrap();
        let (batches, searched) = (vec![1], Vec::new());
        metadata::Block { queries: vec![query], batches, course: None, searched, found }
            .encode()
            .unwrap()
    }

    fn end(count: u64) -> Vec<u8> {
        let end = metadata::End { queries: count, blocks: count, ..metadata::End::default() };
        metadata::End { has_report: true, ..end }.encode().unwrap()
    }

    type Records = Vec<(RecordKind, Vec<u8>)>;

    /// The records of so many queries, of which an end is one.
    fn records(count: u64, report: &str) -> Records {
        let blocks = (1..=count).map(|number| (Block, block(number, report)));
        [(Header, b"header".to_vec())]
            .into_iter()
            .chain(blocks)
            .chain([(End, end(count))])
            .collect()
    }

    /// How far who has these is.
    fn reached(records: &[(RecordKind, Vec<u8>)]) -> Reached {
        let (mut follower, mut chain) = (Follower::default(), Chain::default());
        follower.take(&Chain::start()).unwrap();
        for (kind, body) in records {
            follower.take(&chain.record(*kind, body).unwrap()).unwrap();
        }
        follower.reached().clone()
    }

    /// How many of the records the other site has.
    fn passed(there: Reached, kinds: Kinds, records: &Records) -> Result<usize, Error> {
        let mut passing = Passing::new(there, kinds)?;
        for (number, (kind, body)) in records.iter().enumerate() {
            if passing.is_last(*kind, body)? {
                return Ok(number + 1);
            }
        }
        panic!("more is there than there are records");
    }

    #[test]
    fn what_is_there_is_passed_over_and_nothing_else() {
        let whole = records(4, "report");
        for kinds in [Kinds::Only(Kind::Report), Kinds::Cheapest] {
            for count in 1..=whole.len() {
                assert_eq!(passed(reached(&whole[..count]), kinds, &whole), Ok(count));
            }
            // Fewer queries than are there, more, and others.
            let other = other_queries;
            for count in 2..4 {
                let there = reached(&whole[..1 + count]);
                assert_eq!(
                    passed(there, kinds, &records(count as u64 - 1, "report")),
                    Err(other())
                );
            }
            assert_eq!(passed(reached(&whole), kinds, &records(5, "report")), Err(other()));
            assert_eq!(passed(reached(&whole), kinds, &records(3, "report")), Err(other()));
            let mut others = whole.clone();
            others[2].1 = titled_block("another", 2, "report");
            assert_eq!(passed(reached(&whole[..4]), kinds, &others), Err(other()));
        }
        // Only where the kind may be another one the record may, too.
        let otherwise = records(4, "another report, of the same");
        let there = || reached(&whole[..3]);
        assert_eq!(passed(there(), Kinds::Cheapest, &otherwise), Ok(3));
        assert!(passed(there(), Kinds::Only(Kind::Report), &otherwise).is_err());
    }
}

//! Verifies records that the I/O site holds from an earlier run of the same search, while the
//! search makes these records again.

use fleetblast_metadata::EncodingChoice;
use fleetblast_metadata::follow::{MetadataVerifier, ResumePoint};
use fleetblast_metadata::records::{RecordChain, RecordKind, START_BYTES};

use super::sink::ANOTHER_RECEIVER;
use crate::error::{Error, exit};

/// Skips records that the I/O site holds, and verifies that they are equal to those made in this
/// run.
pub struct ResumeVerifier {
    /// End of the records that the I/O site holds, with their checksum and fingerprints.
    held: ResumePoint,
    chain: RecordChain,
    /// Offset in bytes of the end of the records made so far.
    offset: u64,
    /// Compares header, queries and numbers of blocks instead of the bytes. Used if blocks may have
    /// other encodings than in the earlier run.
    follower: Option<Box<MetadataVerifier>>,
}

impl ResumeVerifier {
    /// Creates a verifier of the records that the I/O site holds.
    ///
    /// # Errors
    /// A fault of the program.
    pub fn new(held: ResumePoint, encodings: EncodingChoice) -> Result<Self, Error> {
        let mut follower =
            (encodings == EncodingChoice::Cheapest).then(Box::<MetadataVerifier>::default);
        if let Some(follower) = &mut follower {
            follower.append(&RecordChain::start()).map_err(Error::engine)?;
        }
        let (chain, offset) = (RecordChain::default(), START_BYTES as u64);
        Ok(ResumeVerifier { held, chain, offset, follower })
    }

    /// Verifies the next record, which is not sent. Returns whether it is the last one that the I/O
    /// site holds.
    ///
    /// # Errors
    /// A record that differs from the record at the I/O site.
    pub fn is_last(&mut self, kind: RecordKind, body: &[u8]) -> Result<bool, Error> {
        let record = self.chain.record(kind, body).map_err(Error::output)?;
        self.offset += record.len() as u64;
        let ResumeVerifier { held, chain, offset, follower } = self;
        let (is_before, is_same) = match follower {
            None => (
                *offset < held.whole_bytes,
                (*offset, chain.last()) == (held.whole_bytes, held.last),
            ),
            Some(follower) => {
                follower.append(&record).map_err(Error::engine)?;
                let made = follower.resume_point();
                let is_before = made.queries < held.queries || (held.ended && !made.ended);
                let facts =
                    |it: &ResumePoint| (it.header, it.blocks, it.queries, it.digest, it.ended);
                (is_before, facts(made) == facts(held))
            }
        };
        match (is_before, is_same) {
            (true, _) if kind != RecordKind::End => Ok(false),
            (false, true) => Ok(true),
            _ => Err(other_queries()),
        }
    }
}

/// Creates the error for an I/O site that holds metadata of other queries, or of the same queries
/// in other blocks.
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
    use fleetblast_metadata::{self as metadata, BlockResults, Encoding};

    use super::*;

    /// Encodes a block with one query, which has this number and this report.
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
        let results = BlockResults::report(&[report.as_bytes().to_vec()]).unwrap();
        let (batches, searched) = (vec![1], Vec::new());
        metadata::Block { queries: vec![query], batches, batch_state: None, searched, results }
            .encode()
            .unwrap()
    }

    fn end(count: u64) -> Vec<u8> {
        let end = metadata::End { queries: count, blocks: count, ..metadata::End::default() };
        metadata::End { has_report: true, ..end }.encode().unwrap()
    }

    type Records = Vec<(RecordKind, Vec<u8>)>;

    /// Returns the header, the blocks of `count` queries and the end record.
    fn records(count: u64, report: &str) -> Records {
        let blocks = (1..=count).map(|number| (Block, block(number, report)));
        [(Header, b"header".to_vec())]
            .into_iter()
            .chain(blocks)
            .chain([(End, end(count))])
            .collect()
    }

    /// Returns the resume point of a site with these records.
    fn resume_point(records: &[(RecordKind, Vec<u8>)]) -> ResumePoint {
        let (mut follower, mut chain) = (MetadataVerifier::default(), RecordChain::default());
        follower.append(&RecordChain::start()).unwrap();
        for (kind, body) in records {
            follower.append(&chain.record(*kind, body).unwrap()).unwrap();
        }
        follower.resume_point().clone()
    }

    /// Returns the number of records that the verifier skips.
    fn count_skipped(
        held: ResumePoint,
        encodings: EncodingChoice,
        records: &Records,
    ) -> Result<usize, Error> {
        let mut verifier = ResumeVerifier::new(held, encodings)?;
        for (number, (kind, body)) in records.iter().enumerate() {
            if verifier.is_last(*kind, body)? {
                return Ok(number + 1);
            }
        }
        panic!("the other site holds more than there is");
    }

    #[test]
    fn records_that_are_held_are_skipped_and_no_others() {
        let whole = records(4, "report");
        for encodings in [EncodingChoice::Only(Encoding::Report), EncodingChoice::Cheapest] {
            for count in 1..=whole.len() {
                assert_eq!(
                    count_skipped(resume_point(&whole[..count]), encodings, &whole),
                    Ok(count)
                );
            }
            // The I/O site holds more queries than there are, fewer, or other ones.
            let other = other_queries;
            for count in 2..4 {
                let held = resume_point(&whole[..1 + count]);
                assert_eq!(
                    count_skipped(held, encodings, &records(count as u64 - 1, "report")),
                    Err(other())
                );
            }
            assert_eq!(
                count_skipped(resume_point(&whole), encodings, &records(5, "report")),
                Err(other())
            );
            assert_eq!(
                count_skipped(resume_point(&whole), encodings, &records(3, "report")),
                Err(other())
            );
            let mut others = whole.clone();
            others[2].1 = titled_block("another", 2, "report");
            assert_eq!(count_skipped(resume_point(&whole[..4]), encodings, &others), Err(other()));
        }
        // Blocks may differ from those of the earlier run only if their encoding may differ.
        let otherwise = records(4, "another report, of the same");
        let held = || resume_point(&whole[..3]);
        assert_eq!(count_skipped(held(), EncodingChoice::Cheapest, &otherwise), Ok(3));
        assert!(count_skipped(held(), EncodingChoice::Only(Encoding::Report), &otherwise).is_err());
    }
}

//! Encodes blocks of queries as bodies of records.

use std::time::{Duration, Instant};

use fleetblast_engine::search::Search;
use fleetblast_metadata::{Encoding, EncodingChoice};

use super::chooser::{EncodingChooser, SearchCapacity};
use super::encoder::{MetadataEncoder, SearchedBlock, encode_block};
use crate::cost::EncodingCosts;
use crate::error::Error;
use crate::plan::{Metadata, Plan};
use crate::search::PhaseTimes;
use crate::subjects::SubjectDatabase;

/// Encoder of blocks, each in the encoding that the user asked for or in the cheapest one.
pub struct RecordEncoder<'a> {
    encoder: MetadataEncoder<'a>,
    chooser: EncodingChooser<'a>,
}

impl<'a> RecordEncoder<'a> {
    /// Creates an encoder for the blocks of a plan. `capacity` describes the threads of the search.
    pub fn new(
        (plan, metadata): (&Plan, &Metadata),
        engine: &'a Search,
        subjects: &'a SubjectDatabase,
        capacity: SearchCapacity,
    ) -> Self {
        let encoder = MetadataEncoder::new(plan, engine, subjects);
        RecordEncoder { encoder, chooser: EncodingChooser::new(metadata, capacity, subjects) }
    }

    /// Returns the costs of encoding, sending and reporting blocks that were measured so far.
    pub fn costs(&self) -> &EncodingCosts {
        &self.chooser.costs
    }

    /// Returns the costs measured so far, so that the caller can add measurements.
    pub fn costs_mut(&mut self) -> &mut EncodingCosts {
        &mut self.chooser.costs
    }

    /// Encodes a block. `number` is its number, and `phases` are the times of the whole search so
    /// far. `report` formats the [parts](MetadataEncoder::encode) of the block's report; a block
    /// may be formatted more than once.
    ///
    /// # Errors
    /// No memory; a report that cannot be made.
    pub fn encode(
        &mut self,
        number: u64,
        searched: SearchedBlock,
        phases: PhaseTimes,
        mut report: impl FnMut() -> Result<Vec<Vec<u8>>, Error>,
    ) -> Result<Vec<u8>, Error> {
        let RecordEncoder { encoder, chooser } = self;
        let mut encode = |encoding| {
            let (begun, mut format) = (Instant::now(), Duration::ZERO);
            let results = encoder.encode(encoding, &searched, || {
                let parts = report();
                format = begun.elapsed();
                parts
            })?;
            Ok((results, [begun.elapsed(), format]))
        };
        let supported = |encoding: Encoding| encoder.supported_encoding(encoding, &searched);
        let hits = searched.hits;
        let results = match chooser.encodings {
            EncodingChoice::Only(encoding) => {
                chooser.encode(supported(encoding), hits, &mut encode)?
            }
            EncodingChoice::Cheapest => {
                let is_supported = |encoding| supported(encoding) == encoding;
                chooser.encode_cheapest((number, hits), phases, &is_supported, &mut encode)?
            }
        };
        let encoding = results.encoding;
        let body = encode_block(searched, results)?;
        chooser.costs.record_sent(encoding, body.len());
        Ok(body)
    }
}

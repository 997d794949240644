//! Stores the pieces that a master has formatted, until workers have fetched them.

use std::collections::HashMap;

use fleetblast_fleet::ids::BlockId;
use fleetblast_fleet::work::{OutputRun, PieceLocation};

use super::piece_store::missing_part;
use crate::error::Error;
use crate::ranks::wire::Bytes;

/// The pieces of a master, by block.
#[derive(Default)]
pub struct MasterPieces(HashMap<BlockId, Vec<Vec<u8>>>);

impl MasterPieces {
    /// Adds the pieces of a block.
    pub fn keep(&mut self, block: BlockId, pieces: Vec<Vec<u8>>) {
        self.0.insert(block, pieces);
    }

    /// Returns the bytes of all slices in `runs` that this master has formatted, one after the
    /// other.
    ///
    /// # Errors
    /// A slice is missing: a fault of the program.
    pub fn gather(&self, runs: &[OutputRun]) -> Result<Bytes, Error> {
        let mut bytes = Vec::new();
        for run in runs {
            for slice in run.slices.iter().filter(|slice| slice.location == PieceLocation::Master) {
                let range = slice.start as usize..(slice.start + slice.length) as usize;
                let pieces = self.0.get(&run.block);
                let piece = pieces.and_then(|pieces| pieces.get(slice.piece as usize)?.get(range));
                bytes.extend_from_slice(piece.ok_or_else(|| missing_part(run.block))?);
            }
        }
        Ok(bytes.into())
    }

    /// Drops the pieces of a block.
    pub fn forget(&mut self, block: BlockId) {
        self.0.remove(&block);
    }
}

#[cfg(test)]
mod tests {
    use fleetblast_fleet::ids::{PartitionId, PassId, WorkerId};
    use fleetblast_fleet::work::Slice;

    use super::*;

    #[test]
    fn a_missing_piece_is_an_error() {
        let mut pieces = MasterPieces::default();
        pieces.keep(BlockId(4), vec![b"first".to_vec(), b"second".to_vec()]);
        let slice = |location, piece, start, length| Slice { location, piece, start, length };
        let run = |block, slices| OutputRun { block: BlockId(block), offset: 0, slices };
        let of_worker =
            slice(PieceLocation::Worker(WorkerId(0), PassId(0), PartitionId(0)), 0, 0, 9);
        let sound = [run(
            4,
            vec![
                slice(PieceLocation::Master, 1, 2, 4),
                of_worker,
                slice(PieceLocation::Master, 0, 0, 3),
            ],
        )];
        assert_eq!(pieces.gather(&sound).unwrap().get(), b"condfir");
        for (block, piece, length) in [(4, 0, 6), (4, 2, 1), (5, 0, 1)] {
            let runs = [run(block, vec![slice(PieceLocation::Master, piece, 0, length)])];
            let error = pieces.gather(&runs).unwrap_err();
            assert!(error.message.contains(&format!("block {block} is missing")), "{error:?}");
        }
        pieces.forget(BlockId(4));
        assert!(pieces.gather(&sound).is_err());
    }
}

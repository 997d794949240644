//! Arranges scattered pieces in batches, for writes through a view.

/// The data of one write through a view.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    /// Offset in the file and length of each range, ascending. Ranges neither touch nor overlap.
    pub(super) stretches: Vec<(u64, usize)>,
    /// The bytes of all ranges, one after the other.
    pub(super) bytes: Vec<u8>,
}

/// Sorts pieces, each with its offset, and arranges them in batches of at most `limit` bytes.
///
/// The bytes are copied. Otherwise both the view and the memory would be scattered, which MPI
/// libraries have handled wrongly. Copying costs far less than writing.
///
/// # Errors
/// Returns the offset of the first byte that two pieces claim.
pub(super) fn batches(pieces: &[(u64, &[u8])], limit: usize) -> Result<Vec<Batch>, u64> {
    let mut sorted: Vec<_> =
        pieces.iter().copied().filter(|(_, piece)| !piece.is_empty()).collect();
    sorted.sort_by_key(|&(offset, _)| offset);
    for pair in sorted.windows(2) {
        let end = pair[0].0.saturating_add(pair[0].1.len() as u64);
        if pair[1].0 < end || pair[1].0 == pair[0].0 {
            return Err(pair[1].0);
        }
    }
    let mut done = Vec::new();
    let mut batch = Batch::default();
    for (mut offset, mut rest) in sorted {
        while !rest.is_empty() {
            if batch.bytes.len() >= limit.max(1) {
                done.push(std::mem::take(&mut batch));
            }
            let (now, later) = rest.split_at(rest.len().min(limit.max(1) - batch.bytes.len()));
            batch.append(offset, now);
            // Offsets beyond 2^63 are invalid; their conversion for MPI reports them.
            offset = offset.saturating_add(now.len() as u64);
            rest = later;
        }
    }
    if !batch.bytes.is_empty() {
        done.push(batch);
    }
    Ok(done)
}

impl Batch {
    fn append(&mut self, offset: u64, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        match self.stretches.last_mut() {
            Some((start, length)) if start.saturating_add(*length as u64) == offset => {
                *length += bytes.len()
            }
            _ => self.stretches.push((offset, bytes.len())),
        }
    }

    /// Returns the offset of the first byte.
    pub(super) fn offset(&self) -> u64 {
        self.stretches.first().map_or(0, |&(offset, _)| offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_sorted_joined_and_cut() {
        let found = batches(&[(20, b"xyz"), (3, b"de"), (0, b"abc"), (9, b"")], 4).unwrap();
        let batch = |stretches: &[(u64, usize)], bytes: &[u8]| Batch {
            stretches: stretches.to_vec(),
            bytes: bytes.to_vec(),
        };
        assert_eq!(found, [batch(&[(0, 4)], b"abcd"), batch(&[(4, 1), (20, 3)], b"exyz")]);
        assert_eq!(batches(&[(5, b"")], 4).unwrap(), []);
    }

    #[test]
    fn every_byte_goes_to_its_place() {
        let text: Vec<u8> = (0..=255).collect();
        // The test leaves out one of three ranges of 7 bytes, as if another rank wrote it.
        let pieces = text.chunks(7).enumerate().filter(|(n, _)| n % 3 != 1);
        let pieces: Vec<(u64, &[u8])> = pieces.map(|(n, piece)| (n as u64 * 7, piece)).collect();
        for limit in [1, 2, 5, 7, 64, 1000] {
            let mut file = vec![0xee; 256];
            for batch in batches(&pieces, limit).unwrap() {
                assert!(batch.bytes.len() <= limit);
                let mut from = batch.bytes.as_slice();
                for (offset, length) in batch.stretches {
                    let (now, later) = from.split_at(length);
                    file[offset as usize..][..length].copy_from_slice(now);
                    from = later;
                }
            }
            let right =
                |(at, &byte): (usize, &u8)| byte == if at / 7 % 3 == 1 { 0xee } else { at as u8 };
            assert!(file.iter().enumerate().all(right), "limit {limit}");
        }
    }

    #[test]
    fn overlaps_are_errors() {
        assert_eq!(batches(&[(10, b"abc"), (12, b"x")], 100), Err(12));
        assert_eq!(batches(&[(u64::MAX, b"abc"), (u64::MAX, b"x")], 100), Err(u64::MAX));
        assert!(batches(&[(10, b"abc"), (13, b"x")], 100).is_ok());
    }
}

//! Edits valid bytes at random.

/// Applies edits to bytes. Each edit in `edits` consists of an offset of two bytes, the number of
/// bytes to remove, the number of bytes to insert (modulo 32), and these.
pub fn edited(mut bytes: Vec<u8>, mut edits: &[u8]) -> Vec<u8> {
    while let Some((&[high, low, out, into], rest)) = edits.split_first_chunk() {
        let (new, rest) = rest.split_at(rest.len().min(usize::from(into % 32)));
        let start = usize::from(u16::from_be_bytes([high, low])) % (bytes.len() + 1);
        let end = bytes.len().min(start + usize::from(out));
        bytes.splice(start..end, new.iter().copied());
        edits = rest;
    }
    bytes
}

//! What blastn is made of.

#[cfg_attr(not(test), expect(dead_code, unused_imports, reason = "the room is being furnished"))]
pub(crate) mod seeds;

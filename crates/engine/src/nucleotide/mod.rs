//! Searches of nucleotides with nucleotides.

#[cfg_attr(not(test), expect(dead_code, reason = "the room is being furnished"))]
#[cfg_attr(test, allow(dead_code, reason = "the room is being furnished"))]
mod gapped;
#[cfg_attr(not(test), expect(dead_code, reason = "the room is being furnished"))]
#[cfg_attr(test, allow(dead_code, reason = "the room is being furnished"))]
mod greedy;
#[cfg(test)]
mod testing;
#[cfg_attr(not(test), expect(dead_code, reason = "the room is being furnished"))]
#[cfg_attr(test, allow(dead_code, reason = "the room is being furnished"))]
mod traceback;

//! Searches of nucleotides with nucleotides.

#[expect(dead_code, reason = "the room is being furnished")]
mod gapped;
#[expect(dead_code, reason = "the room is being furnished")]
mod greedy;
#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod testing;
#[expect(dead_code, reason = "the room is being furnished")]
mod traceback;

//! Alignments to bytes: one pure function per piece of an output format.
//!
//! This layer does not know where the bytes go.

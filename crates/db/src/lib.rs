//! BLAST databases, versions 4 and 5: volumes, aliases, headers.
//!
//! This layer knows sequences, not searching.

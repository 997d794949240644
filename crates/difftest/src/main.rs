//! Compares FleetBLAST with BLAST+ byte for byte.

fn main() {}

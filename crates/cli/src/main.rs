//! The program `fleetblast`: BLAST+'s command line over the FleetBLAST engine.

fn main() {}

//! The options of `keygen`, which BLAST+ does not have.

use std::ffi::OsString;

use super::opt::Opt;
use super::parse::Given;
use super::spec::{self, Group, OptionSpec, Program};
use super::values::Values;

/// The command `keygen` with its table of options.
pub const KEYGEN: Program = Program {
    name: "keygen",
    release: None,
    about: "Makes a key by which another site knows this one",
    description: &[
        "Makes a key for -send and 'fleetblast receive', and tells its fingerprint, which is",
        "what the other site is to be given as -peer: fleetblast keygen FILE",
    ],
    groups: &[],
    options: &[OPTIONS],
    lone: Some(KEY.name()),
};

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] = &[spec::H, spec::HELP, KEY.spec];

/// `-key`.
pub const KEY: Opt<OsString> = Opt::output(
    "key",
    Group::TOP,
    &[
        "The file for the key, which only its owner can read; of one that is there the",
        "fingerprint is told",
    ],
)
.label("file")
.mandatory();

/// Returns the file of the key.
pub fn key(given: &Given) -> OsString {
    Values::new(&KEYGEN, given).get(&KEY)
}

//! The options of `keygen`, which BLAST+ does not have.

use std::ffi::OsString;

use super::opt::Opt;
use super::parse::GivenOptions;
use super::spec::{self, Group, OptionSpec, Program};
use super::values::Values;

/// The command `keygen` with its table of options.
pub const KEYGEN: Program = Program {
    name: "keygen",
    release: None,
    about: "Makes a key that identifies this site to another one",
    description: &[
        "Makes a key for -send and 'fleetblast receive', and prints its fingerprint, which the \
         other site needs for -peer: fleetblast keygen FILE",
    ],
    groups: &[],
    options: &[OPTIONS],
    details: &[],
    own_version: None,
    positional_option: Some(KEY.name()),
};

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] = &[spec::H, spec::HELP, KEY.spec];

/// `-key`.
pub const KEY: Opt<OsString> = Opt::output(
    "key",
    Group::TOP,
    &["The file for the key, which only its owner can read; if it exists, only its fingerprint \
         is printed"],
)
.label("file")
.mandatory();

/// Returns the file of the key.
pub fn key(given: &GivenOptions) -> OsString {
    Values::new(&KEYGEN, given).get(&KEY)
}

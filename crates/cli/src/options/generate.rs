//! The options of `generate`, which BLAST+ does not have.

use std::ffi::OsString;

use super::opt::{Opt, ValueWords};
use super::parse::GivenOptions;
use super::spec::{self, Group, OptionSpec, Program};
use super::values::Values;

/// The command `generate` with its table of options.
pub const GENERATE: Program = Program {
    name: "generate",
    release: None,
    about: "Prints the manual, or completions for a shell",
    description: &[
        "Prints files to install beside the program, generated from its options: fleetblast \
         generate bash",
    ],
    groups: &[],
    options: &[OPTIONS],
    details: &[],
    own_version: None,
    positional_option: Some(WHAT.name()),
};

/// The options, in the order of the usage text.
const OPTIONS: &[OptionSpec] = &[spec::H, spec::HELP, WHAT.spec, COMMAND.spec];

/// The texts that can be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratedText {
    /// Completions for bash.
    Bash,
    /// Completions for fish.
    Fish,
    /// Names of the programs of BLAST+ that can be links to this program.
    Links,
    /// A page of the manual.
    Man,
    /// Names of the commands that have a page of the manual.
    Pages,
    /// Completions for zsh.
    Zsh,
}

const GENERATED: ValueWords<GeneratedText, 6> = ValueWords::new([
    ("bash", GeneratedText::Bash),
    ("fish", GeneratedText::Fish),
    ("links", GeneratedText::Links),
    ("man", GeneratedText::Man),
    ("pages", GeneratedText::Pages),
    ("zsh", GeneratedText::Zsh),
]);

/// `-what`.
pub const WHAT: Opt<GeneratedText> = Opt::one_of(
    "what",
    Group::TOP,
    &[
        "What to print:",
        "    bash, fish, zsh: completions for this shell",
        "    links: names of BLAST+ programs for links to this program",
        "    man: a page of the manual",
        "    pages: the commands that have a page of their own",
    ],
    &GENERATED,
)
.label("what")
.mandatory();

/// `-command`.
pub const COMMAND: Opt<OsString> = Opt::text(
    "command",
    Group::TOP,
    &["Print the manual page of this command", "Default = that of the whole program"],
)
.label("name");

/// Values of the options of `generate`.
#[derive(Clone, Debug, PartialEq)]
pub struct GenerateOptions {
    /// `-what`.
    pub what: GeneratedText,
    /// `-command`.
    pub command: Option<OsString>,
}

impl GenerateOptions {
    /// Reads the values of the options.
    pub fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&GENERATE, given);
        Self { what: values.get(&WHAT), command: values.optional(&COMMAND) }
    }
}

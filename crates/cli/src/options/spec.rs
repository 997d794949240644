//! What the command line layer knows of a program and of one option.

use std::fmt::Display;

use fleetblast_stats::release::Release;

use super::refused::Refused;

/// Type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No value; given or not.
    Flag,
    /// Any text.
    Text,
    /// 32-bit integer.
    Integer,
    /// 64-bit integer.
    Long,
    /// Floating-point number.
    Real,
    /// true or false, in BLAST+'s spellings.
    Boolean,
    /// Path of a file to read; `-` is standard input.
    InputFile,
    /// Path of a file to write; `-` is standard output.
    OutputFile,
}

impl Kind {
    /// Name of the type in the help text; nothing for a flag.
    pub fn title(self) -> Option<&'static str> {
        match self {
            Kind::Flag => None,
            Kind::Text => Some("String"),
            Kind::Integer => Some("Integer"),
            Kind::Long => Some("Int8"),
            Kind::Real => Some("Real"),
            Kind::Boolean => Some("Boolean"),
            Kind::InputFile => Some("File_In"),
            Kind::OutputFile => Some("File_Out"),
        }
    }
}

/// Values an option may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constraint {
    /// Any value of the type.
    Any,
    /// At least this.
    AtLeast(u32),
    /// At most this.
    AtMost(i32),
    /// From 0 to this, both included.
    UpTo(u32),
    /// From 0 to 100, both included.
    Percent,
    /// Above 0 and below one half.
    BelowHalf,
    /// From the first to the second, both included.
    Between(i32, i32),
    /// One of these numbers.
    OneNumber(&'static [i32]),
    /// One of these words, as the database programs describe them.
    Word(&'static [&'static str]),
    /// One of these words, as the search programs describe them.
    OneOf(&'static [&'static str]),
}

impl Constraint {
    /// How help and errors describe the values; nothing if there is no constraint.
    pub fn usage(self) -> Option<String> {
        match self {
            Constraint::Any => None,
            Constraint::AtLeast(min) => Some(format!(">={min}")),
            Constraint::AtMost(max) => Some(format!("<={max}")),
            Constraint::UpTo(max) => Some(format!("(>=0 and =<{max})")),
            Constraint::Percent => Some("0..100".to_owned()),
            Constraint::BelowHalf => Some("(>0 and <0.5)".to_owned()),
            Constraint::Between(from, to) => Some(format!("{from}..{to}")),
            Constraint::OneNumber(numbers) => Some(permissible(numbers)),
            Constraint::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}'")).collect();
                Some(words.join(", "))
            }
            Constraint::OneOf(words) => Some(permissible(words)),
        }
    }
}

/// Values as the search programs describe them.
fn permissible(values: &[impl Display]) -> String {
    let values: String = values.iter().map(|value| format!("'{value}' ")).collect();
    format!("Permissible values: {values}")
}

/// Section of the help text, by its title. Every program has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group(pub &'static str);

impl Group {
    /// Before all sections, without a title.
    pub const TOP: Group = Group("");
    /// Options BLAST+ does not have.
    pub const FLEETBLAST: Group = Group("FleetBLAST options");
}

/// A program: the single source for the parser, `-h` and `-help`, the manual and the completions of shells.
///
/// Names, types, defaults, constraints, texts and their order are those of BLAST+ 2.12.0; what BLAST+ does not know
/// comes last, in [`Group::FLEETBLAST`].
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// What is typed to run it.
    pub name: &'static str,
    /// The release of BLAST+ that it follows; none if BLAST+ has no program of this name.
    pub release: Option<&'static Release>,
    /// What it does, in a few words.
    pub about: &'static str,
    /// Lines of its description; BLAST+ adds its version to the last ([`describe`](Self::describe)).
    pub description: &'static [&'static str],
    /// Sections in the order of the help text, [`Group::TOP`] left out.
    pub groups: &'static [Group],
    /// All options in the order of the usage text, cut into parts at will.
    pub options: &'static [&'static [OptionSpec]],
    /// The option whose value may be typed without its name.
    pub lone: Option<&'static str>,
}

impl Program {
    /// Whether BLAST+ has a program of this name.
    pub fn is_of_blast(&self) -> bool {
        self.release.is_some()
    }

    /// The lines that describe it.
    pub fn describe(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.description.iter().map(|&line| line.to_owned()).collect();
        if let (Some(release), Some(last)) = (self.release, lines.last_mut()) {
            *last += &format!(" {}+", release.version);
        }
        lines
    }

    /// All options, in the order of the usage text.
    pub fn all(&self) -> impl Iterator<Item = &'static OptionSpec> + use<> {
        self.options.iter().copied().flatten()
    }

    /// The option of that name (without the dash).
    pub fn find(&self, name: &str) -> Option<&'static OptionSpec> {
        self.all().find(|option| option.name == name)
    }
}

/// `-h`, the first option of every program.
pub const H: OptionSpec = OptionSpec::new(
    "h",
    Kind::Flag,
    Group::TOP,
    &["Print USAGE and DESCRIPTION;  ignore all other parameters"],
);

/// `-help`, the second option of every program.
pub const HELP: OptionSpec = OptionSpec::new(
    "help",
    Kind::Flag,
    Group::TOP,
    &["Print USAGE, DESCRIPTION and ARGUMENTS; ignore all other parameters"],
);

/// `-version`, BLAST+'s last option of every program.
pub const VERSION: OptionSpec = OptionSpec::new(
    "version",
    Kind::Flag,
    Group::TOP,
    &["Print version number;  ignore other arguments"],
);

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Name without the dash.
    pub name: &'static str,
    /// Type of the value.
    pub kind: Kind,
    /// Section of the help text.
    pub group: Group,
    /// Lines of the help text.
    pub help: &'static [&'static str],
    /// Word for the value in the usage text; empty for a flag.
    pub label: &'static str,
    /// Value when not given.
    pub default: Option<&'static str>,
    /// Allowed values.
    pub constraint: Constraint,
    /// Names of options this one cannot go with, in the order in which they are checked.
    pub excludes: &'static [&'static str],
    /// Names of options this one cannot go without.
    pub requires: &'static [&'static str],
    /// Whether it must be given.
    pub mandatory: bool,
    /// What of it FleetBLAST refuses.
    pub refused: Refused,
}

impl OptionSpec {
    /// Type and values as help and errors tell them, e.g. `Integer, >=0`; nothing for a flag.
    pub fn attributes(&self) -> Option<String> {
        let constraint = self.constraint.usage().map(|usage| format!(", {usage}"));
        self.kind.title().map(|title| format!("{title}{}", constraint.unwrap_or_default()))
    }

    /// An optional option without default, constraint or ties to others.
    pub const fn new(
        name: &'static str,
        kind: Kind,
        group: Group,
        help: &'static [&'static str],
    ) -> Self {
        let constraint = Constraint::Any;
        Self {
            name,
            kind,
            group,
            help,
            label: "",
            default: None,
            constraint,
            excludes: &[],
            requires: &[],
            mandatory: false,
            refused: Refused::Nothing,
        }
    }

    /// With these lines of help.
    pub const fn help(mut self, help: &'static [&'static str]) -> Self {
        self.help = help;
        self
    }

    /// With this word for the value.
    pub const fn label(mut self, label: &'static str) -> Self {
        self.label = label;
        self
    }

    /// With this default.
    pub const fn default(mut self, value: &'static str) -> Self {
        self.default = Some(value);
        self
    }

    /// With this constraint.
    pub const fn within(mut self, constraint: Constraint) -> Self {
        self.constraint = constraint;
        self
    }

    /// With these incompatible options.
    pub const fn excludes(mut self, names: &'static [&'static str]) -> Self {
        self.excludes = names;
        self
    }

    /// With these required options.
    pub const fn requires(mut self, names: &'static [&'static str]) -> Self {
        self.requires = names;
        self
    }

    /// That must be given.
    pub const fn mandatory(mut self) -> Self {
        self.mandatory = true;
        self
    }

    /// The lines of help, with marks at the values that are refused; those that have no line of
    /// their own are in one at the end.
    pub fn marked_help(&self) -> Vec<String> {
        self.refused.marked(self.help)
    }

    /// The words that a value must be one of; none if it is free.
    pub const fn words(&self) -> &'static [&'static str] {
        match self.constraint {
            Constraint::OneOf(words) | Constraint::Word(words) => words,
            _ => &[],
        }
    }

    /// Known from BLAST+ or another program, but refused.
    pub const fn unsupported(mut self) -> Self {
        self.refused = Refused::Always;
        self
    }

    /// With these refusals.
    pub const fn refused(mut self, refused: Refused) -> Self {
        self.refused = refused;
        self
    }
}

/// Options, of which those with the names of others are replaced by these.
pub const fn replaced<const N: usize, const M: usize>(
    mut options: [OptionSpec; N],
    others: [OptionSpec; M],
) -> [OptionSpec; N] {
    let mut other = 0;
    while other < M {
        let mut at = 0;
        while !is_same(options[at].name, others[other].name) {
            at += 1;
        }
        options[at] = others[other];
        other += 1;
    }
    options
}

/// Whether two names are the same.
pub const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

//! Descriptions of programs and options, from which the command line is parsed.

use fleetblast_stats::release::Release;

use super::constraint::{Constraint, Kind};
use super::later::{Change, Later};
use super::refused::Refused;
use super::wrapping;

/// A section of the help text, identified by its title. Each program has sections of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group(pub &'static str);

impl Group {
    /// Options before all sections; this group has no title.
    pub const TOP: Group = Group("");
    /// Options that BLAST+ does not have.
    pub const FLEETBLAST: Group = Group("FleetBLAST options");
}

/// A command: the single source for the parser, `-h` and `-help`, the manual and the completions of
/// shells.
///
/// Names, types, defaults, constraints, texts and their order are those of BLAST+ 2.12.0, with
/// [changes](Later) of later releases. Options that BLAST+ does not have come last, in
/// [`Group::FLEETBLAST`].
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Name of the command.
    pub name: &'static str,
    /// The release of BLAST+ that the program follows; `None` if BLAST+ has no program of this
    /// name.
    pub release: Option<&'static Release>,
    /// A short description for the list of commands.
    pub about: &'static str,
    /// Paragraphs of the description; BLAST+ adds its version to the last
    /// ([`describe`](Self::describe)).
    pub description: &'static [&'static str],
    /// Further paragraphs of the description, after the one with the version.
    pub details: &'static [&'static str],
    /// Version of a program of BLAST+ whose description lacks the version; `None` if the
    /// description ends with the release.
    pub own_version: Option<&'static str>,
    /// Sections in the order of the help text, without [`Group::TOP`].
    pub groups: &'static [Group],
    /// All options in the order of the usage text, in any number of slices.
    pub options: &'static [&'static [OptionSpec]],
    /// The option whose value may be given without its name.
    pub positional_option: Option<&'static str>,
}

impl Program {
    /// Returns the program of another release, if one is given.
    pub fn in_release(self, release: Option<&'static Release>) -> Self {
        Self { release: release.or(self.release), ..self }
    }

    /// Returns whether BLAST+ has a program of this name.
    pub fn is_of_blast(&self) -> bool {
        self.release.is_some()
    }

    /// Returns the paragraphs of the description.
    pub fn describe(&self) -> Vec<String> {
        let mut text: Vec<String> = self.description.iter().map(|&line| line.to_owned()).collect();
        let release = self.release.filter(|_| self.own_version.is_none());
        if let (Some(release), Some(last)) = (release, text.last_mut()) {
            *last += &format!(" {}+", release.version);
        }
        text.extend(self.details.iter().map(|&line| line.to_owned()));
        text
    }

    /// Returns all options that the program has in its release, in the order of the usage text.
    pub fn all(&self) -> impl Iterator<Item = OptionSpec> + use<> {
        let release = self.table_release();
        self.of_all_releases().filter_map(|option| option.in_release(release))
    }

    /// Returns the options of all releases: those of the table, and those of [`COMMON`] that it
    /// does not name.
    fn of_all_releases(&self) -> impl Iterator<Item = &'static OptionSpec> + use<> {
        let (options, is_of_blast) = (self.options, self.is_of_blast());
        let table = move || options.iter().copied().flatten();
        let is_missing = move |name: &str| !table().any(|option| option.name == name);
        let common = COMMON.iter().filter(move |option| is_of_blast && is_missing(option.name));
        table().chain(common)
    }

    /// Finds the option of this name (without the dash) in the program's release.
    pub fn find(&self, name: &str) -> Option<OptionSpec> {
        let mut named = self.of_all_releases().filter(|it| it.name == name);
        named.find_map(|option| option.in_release(self.table_release()))
    }

    /// Returns the release whose options the program has.
    fn table_release(&self) -> &'static Release {
        self.release.unwrap_or(Release::ALL[0])
    }

    /// Returns the number of an option's section in the program's release, counted from 1; `None`
    /// for options before all sections. Sections of later releases do not count.
    pub fn group_number(&self, option: &OptionSpec) -> Option<usize> {
        let has_options = |group: Group| self.all().any(|option| option.group == group);
        let is_later = |group: Group| {
            self.of_all_releases().any(|option| option.group == group) && !has_options(group)
        };
        let mut groups = self.groups.iter().filter(|group| !is_later(**group));
        groups.position(|group| *group == option.group).map(|at| at + 1)
    }

    /// Returns the names of the options that `option` excludes, without options that the program
    /// has in other releases only.
    pub fn excluded_by(&self, option: &OptionSpec) -> Vec<&'static str> {
        let is_of_others = |name: &str| {
            self.of_all_releases().any(|other| other.name == name) && self.find(name).is_none()
        };
        option.excludes.iter().copied().filter(|name| !is_of_others(name)).collect()
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

/// `-xmlhelp`, which only some programs of BLAST+ show in their help.
pub const XMLHELP: OptionSpec = OptionSpec::new(
    "xmlhelp",
    Kind::Flag,
    Group::TOP,
    &["Print USAGE, DESCRIPTION and ARGUMENTS in XML format; ignore all other parameters"],
);

/// `-logfile`, which only some programs of BLAST+ show in their help.
pub const LOGFILE: OptionSpec = OptionSpec::new(
    "logfile",
    Kind::OutputFile,
    Group::TOP,
    &["File to which the program log should be redirected"],
)
.label("File_Name");

/// `-conffile`.
pub const CONFFILE: OptionSpec = OptionSpec::new(
    "conffile",
    Kind::InputFile,
    Group::TOP,
    &["Program's configuration (registry) data file"],
)
.label("File_Name");

/// Options that every program of BLAST+ has, although most leave them out of their help.
pub const COMMON: [OptionSpec; 3] = [XMLHELP.hidden(), LOGFILE.hidden(), CONFFILE.hidden()];

/// `-version`, which BLAST+ lists last in every program.
pub const VERSION: OptionSpec = OptionSpec::new(
    "version",
    Kind::Flag,
    Group::TOP,
    &["Print version number;  ignore other arguments"],
);

/// The description of one option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Name without the dash.
    pub name: &'static str,
    /// Type of the value.
    pub kind: Kind,
    /// Section of the help text.
    pub group: Group,
    /// Paragraphs of the help text; `-help` wraps them. A text that ends with a line break has an
    /// empty last paragraph, which only `-xmlhelp` shows.
    pub help: &'static [&'static str],
    /// Word for the value in the usage text; empty for a flag.
    pub label: &'static str,
    /// Value when not given.
    pub default: Option<&'static str>,
    /// Allowed values.
    pub constraint: Constraint,
    /// Names of options that this one excludes, in the order in which BLAST+ checks them.
    pub excludes: &'static [&'static str],
    /// Names of options that this one requires.
    pub requires: &'static [&'static str],
    /// Whether the option must be given.
    pub mandatory: bool,
    /// The part of the option that FleetBLAST refuses.
    pub refused: Refused,
    /// Whether BLAST+ accepts the option, but leaves it out of its help.
    pub is_hidden: bool,
    /// Properties that only `-xmlhelp` shows, such as how BLAST+ opens the file. With any, it also
    /// shows a hidden option.
    pub xml_flags: &'static [&'static str],
    /// Changes in later releases, by release.
    pub later: &'static [Later],
}

impl OptionSpec {
    /// Returns the option as a release has it; `None` if the release does not have it.
    fn in_release(mut self, release: &Release) -> Option<Self> {
        let mut exists = !self.later.iter().any(|later| matches!(later.change, Change::Added));
        for later in self.later.iter().filter(|later| release.includes(later.since)) {
            match later.change {
                Change::Added => exists = true,
                Change::Removed => exists = false,
                Change::Default(value) => self.default = value,
                Change::Help(help) => self.help = help,
                Change::Constraint(constraint) => self.constraint = constraint,
                Change::Excludes(names) => self.excludes = names,
            }
        }
        exists.then_some(self)
    }

    /// Formats type and constraint as in help and errors, e.g. `Integer, >=0`; `None` for a flag.
    pub fn attributes(&self) -> Option<String> {
        let constraint = self.constraint.usage().map(|usage| format!(", {usage}"));
        self.kind.title().map(|title| format!("{title}{}", constraint.unwrap_or_default()))
    }

    /// Creates an optional option without default, constraint, exclusions or requirements.
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
            is_hidden: false,
            xml_flags: &[],
            later: &[],
        }
    }

    /// Sets the paragraphs of help.
    pub const fn help(mut self, help: &'static [&'static str]) -> Self {
        self.help = help;
        self
    }

    /// Sets the word for the value in the usage text.
    pub const fn label(mut self, label: &'static str) -> Self {
        self.label = label;
        self
    }

    /// Sets the default.
    pub const fn default(mut self, value: &'static str) -> Self {
        self.default = Some(value);
        self
    }

    /// Sets the constraint.
    pub const fn with_constraint(mut self, constraint: Constraint) -> Self {
        self.constraint = constraint;
        self
    }

    /// Sets the options that this one excludes.
    pub const fn excludes(mut self, names: &'static [&'static str]) -> Self {
        self.excludes = names;
        self
    }

    /// Sets the options that this one requires.
    pub const fn requires(mut self, names: &'static [&'static str]) -> Self {
        self.requires = names;
        self
    }

    /// Makes the option mandatory.
    pub const fn mandatory(mut self) -> Self {
        self.mandatory = true;
        self
    }

    /// Returns the lines of help.
    pub fn help_lines(&self) -> Vec<String> {
        wrapping::lines(self.help)
    }

    /// Returns the lines of help, with marks at refused values. Values without a line of their own
    /// are listed in an additional line at the end.
    pub fn marked_help(&self) -> Vec<String> {
        wrapping::lines(&self.refused.marked(self.help))
    }

    /// Returns the only words that the option accepts; empty if it accepts any text.
    pub const fn words(&self) -> &'static [&'static str] {
        match self.constraint {
            Constraint::OneOf(words) | Constraint::Word(words) => words,
            _ => &[],
        }
    }

    /// Marks the option as refused by FleetBLAST.
    pub const fn unsupported(mut self) -> Self {
        self.refused = Refused::Always;
        self
    }

    /// Sets the section of the help text.
    pub const fn group(mut self, group: Group) -> Self {
        self.group = group;
        self
    }

    /// Sets the changes in later releases.
    pub const fn later(mut self, later: &'static [Later]) -> Self {
        self.later = later;
        self
    }

    /// Leaves the option out of the help under the name of BLAST+'s program.
    pub const fn hidden(mut self) -> Self {
        self.is_hidden = true;
        self
    }

    /// Sets the properties that only `-xmlhelp` shows.
    pub const fn xml_flags(mut self, flags: &'static [&'static str]) -> Self {
        self.xml_flags = flags;
        self
    }

    /// Sets the values that FleetBLAST refuses.
    pub const fn refused(mut self, refused: Refused) -> Self {
        self.refused = refused;
        self
    }
}

/// Replaces each option that has the name of one in `others`.
pub const fn replace_options<const N: usize, const M: usize>(
    mut options: [OptionSpec; N],
    others: [OptionSpec; M],
) -> [OptionSpec; N] {
    let mut other = 0;
    while other < M {
        let mut at = 0;
        while !names_are_equal(options[at].name, others[other].name) {
            at += 1;
        }
        options[at] = others[other];
        other += 1;
    }
    options
}

/// Returns whether two names are equal.
pub const fn names_are_equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

//! What the command line layer knows of one option.

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
    /// From 0 to this, both included.
    UpTo(u32),
    /// From 0 to 100, both included.
    Percent,
    /// Above 0 and below one half.
    BelowHalf,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

impl Constraint {
    /// How help and errors describe the values; nothing if there is no constraint.
    pub fn usage(self) -> Option<String> {
        match self {
            Constraint::Any => None,
            Constraint::AtLeast(min) => Some(format!(">={min}")),
            Constraint::UpTo(max) => Some(format!("(>=0 and =<{max})")),
            Constraint::Percent => Some("0..100".to_owned()),
            Constraint::BelowHalf => Some("(>0 and <0.5)".to_owned()),
            Constraint::OneOf(words) => {
                let words: String = words.iter().map(|word| format!("'{word}' ")).collect();
                Some(format!("Permissible values: {words}"))
            }
        }
    }
}

/// Section of the help text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Before all sections.
    Top,
    /// Input query options.
    Query,
    /// General search options.
    General,
    /// BLAST-2-Sequences options.
    Subjects,
    /// Formatting options.
    Format,
    /// Query filtering options.
    Filter,
    /// Restrict search or results.
    Restrict,
    /// Statistical options.
    Statistics,
    /// Search strategy options.
    Strategy,
    /// Extension options.
    Extension,
    /// Miscellaneous options.
    Misc,
    /// Options BLAST+ does not have.
    FleetBlast,
}

impl Group {
    /// All sections in the order of the help text.
    pub const ALL: [Group; 12] = [
        Group::Top,
        Group::Query,
        Group::General,
        Group::Subjects,
        Group::Format,
        Group::Filter,
        Group::Restrict,
        Group::Statistics,
        Group::Strategy,
        Group::Extension,
        Group::Misc,
        Group::FleetBlast,
    ];

    /// Title of the section; the first one has none.
    pub fn title(self) -> Option<&'static str> {
        match self {
            Group::Top => None,
            Group::Query => Some("Input query options"),
            Group::General => Some("General search options"),
            Group::Subjects => Some("BLAST-2-Sequences options"),
            Group::Format => Some("Formatting options"),
            Group::Filter => Some("Query filtering options"),
            Group::Restrict => Some("Restrict search or results"),
            Group::Statistics => Some("Statistical options"),
            Group::Strategy => Some("Search strategy options"),
            Group::Extension => Some("Extension options"),
            Group::Misc => Some("Miscellaneous options"),
            Group::FleetBlast => Some("FleetBLAST options"),
        }
    }
}

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
    /// Whether FleetBLAST can do it.
    pub supported: bool,
}

impl OptionSpec {
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
            supported: true,
        }
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

    /// Known from BLAST+, but refused.
    pub const fn unsupported(mut self) -> Self {
        self.supported = false;
        self
    }
}

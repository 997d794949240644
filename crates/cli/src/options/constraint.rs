//! Types of options and constraints on their values.

use std::fmt::Display;

/// Type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No value: the option is given or not.
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
    /// Returns the name of the type in the help text; `None` for a flag.
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

/// A constraint on the values of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constraint {
    /// Any value of the type.
    Any,
    /// At least this number.
    AtLeast(u32),
    /// At most this number.
    AtMost(i32),
    /// From 0 to this number, both included.
    UpTo(u32),
    /// From 0 to 100, both included.
    Percent,
    /// Above 0 and below one half.
    BelowHalf,
    /// From the first to the second, both included.
    Between(i32, i32),
    /// One of these numbers.
    OneNumber(&'static [i32]),
    /// In one of these ranges, whose ends are included.
    Ranges(&'static [(i32, i32)]),
    /// One of these words, described in the style of the database programs.
    Word(&'static [&'static str]),
    /// One of these words, described in the style of the search programs.
    OneOf(&'static [&'static str]),
    /// A path whose last part has less than this number of bytes.
    FileNameBelow(u32),
}

impl Constraint {
    /// Formats the constraint as in help and errors; `None` without a constraint.
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
            Constraint::Ranges(ranges) => {
                let range = |&(from, to): &(i32, i32)| match from == to {
                    true => from.to_string(),
                    false => format!("{from}-{to}"),
                };
                let ranges: Vec<String> = ranges.iter().map(range).collect();
                Some(format!("values between: {}", ranges.join(", ")))
            }
            Constraint::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}'")).collect();
                Some(words.join(", "))
            }
            Constraint::OneOf(words) => Some(permissible(words)),
            Constraint::FileNameBelow(limit) => Some(format!("file name length < {limit}")),
        }
    }
}

/// Formats allowed values in the style of the search programs.
fn permissible(values: &[impl Display]) -> String {
    let values: String = values.iter().map(|value| format!("'{value}' ")).collect();
    format!("Permissible values: {values}")
}

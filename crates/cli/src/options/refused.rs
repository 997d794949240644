//! Options and values that FleetBLAST refuses, and their marks in the help.

/// The part of an option that FleetBLAST refuses. Help and the manual mark it; completions leave it
/// out.
///
/// [`Values::unsupported`](super::values::Values::unsupported) refuses [`Always`](Self::Always),
/// and those of [`Values`](Self::Values) that are words of the option, `true` or `false`. A program
/// refuses all other values where it reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No part of the option.
    Nothing,
    /// The whole option.
    Always,
    /// The whole option under a condition, such as `by blastn`.
    When(&'static str),
    /// Some values of the option.
    Values(&'static [&'static str]),
    /// Some values of the option, under a condition such as `by blastn`.
    ValuesWhen(&'static [&'static str], &'static str),
}

impl Refused {
    /// Returns whether the whole option is refused.
    pub fn is_whole(self) -> bool {
        matches!(self, Refused::Always | Refused::When(_))
    }

    /// Returns the refused values; none if the whole option is refused, or no part of it.
    pub fn values(self) -> &'static [&'static str] {
        match self {
            Refused::Values(values) | Refused::ValuesWhen(values, _) => values,
            Refused::Nothing | Refused::Always | Refused::When(_) => &[],
        }
    }

    /// Formats the mark for the help, e.g. `not supported by blastn`.
    pub fn mark(self) -> String {
        match self {
            Refused::Nothing => String::new(),
            Refused::Always | Refused::Values(_) => "not supported".to_owned(),
            Refused::When(when) | Refused::ValuesWhen(_, when) => format!("not supported {when}"),
        }
    }

    /// Marks refused values in the lines of help. Values without a line of their own are listed in
    /// an additional line at the end.
    pub fn marked(self, help: &[&'static str]) -> Vec<String> {
        let mark = self.mark();
        let mut rest = self.values().to_vec();
        let mut lines = Vec::new();
        for &line in help {
            let value = described(line).filter(|value| rest.contains(value));
            let Some(value) = value else {
                lines.push(line.to_owned());
                continue;
            };
            rest.retain(|other| *other != value);
            let colon = format!("{value}:");
            lines.push(match (line.split_once(&colon), line.strip_suffix(',')) {
                (Some((indent, text)), _) => format!("{indent}{value} ({mark}):{text}"),
                (None, Some(line)) => format!("{line} ({mark}),"),
                (None, None) => format!("{line} ({mark})"),
            });
        }
        if !rest.is_empty() {
            let values: Vec<String> = rest.iter().map(|value| format!("`{value}'")).collect();
            lines.push(format!("{}: {}", mark.replacen("not", "Not", 1), values.join(", ")));
        }
        lines
    }
}

/// Parses the value that a line of help describes: `  6 = Tabular,`, `    map: mapped`, `  %a means
/// ...`.
pub fn described(line: &'static str) -> Option<&'static str> {
    let is_set_in = line.starts_with(char::is_whitespace);
    let (value, rest) = line.trim_start().split_once(' ').filter(|_| is_set_in)?;
    match value.strip_suffix(':') {
        Some(value) => Some(value),
        None => (rest.starts_with("= ") || rest.starts_with("means ")).then_some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_values_are_marked_where_they_are_described() {
        let help = ["Views:", "  0 = Pairwise,", " 11 = Archive,", "    far: beyond", "  8 = Last"];
        let refused = Refused::ValuesWhen(&["11", "far", "8", "unlisted"], "by blastn");
        let wanted = [
            "Views:",
            "  0 = Pairwise,",
            " 11 = Archive (not supported by blastn),",
            "    far (not supported by blastn): beyond",
            "  8 = Last (not supported by blastn)",
            "Not supported by blastn: `unlisted'",
        ];
        assert_eq!(refused.marked(&help), wanted);
        assert_eq!(Refused::Always.marked(&help), help);
        assert_eq!(Refused::Nothing.marked(&help), help);
    }

    #[test]
    fn lines_that_describe_no_value_are_known() {
        let described: Vec<_> =
            ["Default = 5", "    needs no database", "\t%a means accession", "  D or d: default"]
                .into_iter()
                .map(described)
                .collect();
        assert_eq!(described, [None, None, Some("%a"), None]);
    }
}

//! Compares the outputs of the two programs and locates differences.

use std::borrow::Cow;

use crate::process::Outcome;

/// A difference between the programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// One or both programs were killed because they took too long.
    TimedOut {
        /// Whether the oracle was killed.
        oracle: bool,
        /// Whether FleetBLAST was killed.
        tested: bool,
    },
    /// The exit codes differ. Minus the number of the signal stands for the code of a killed
    /// program.
    ExitCode {
        /// The oracle's code.
        expected: i32,
        /// FleetBLAST's code.
        actual: i32,
    },
    /// An interrupted search did not end or resume as required; the text describes the fault.
    Resume(String),
    /// An output stream differs.
    Stream {
        /// Name of the stream: `stdout` or `stderr`.
        stream: &'static str,
        /// The first differing line.
        at: LineDifference,
    },
}

/// The first difference between two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineDifference {
    /// Line number, from 1.
    pub line: usize,
    /// The oracle's line with its line end; `None` if its text has ended.
    pub expected: Option<Vec<u8>>,
    /// FleetBLAST's line; `None` if its text has ended.
    pub actual: Option<Vec<u8>>,
    /// The query and hit of the line, if the text names them.
    pub context: Vec<String>,
    /// Number of lines that differ at the same position.
    pub differing_lines: usize,
}

/// Returns all differences between two outcomes. Compares standard error only if `stderr` is true.
pub fn compare(expected: &Outcome, actual: &Outcome, stderr: bool) -> Vec<Difference> {
    let mut found = Vec::new();
    if expected.timed_out || actual.timed_out {
        found.push(Difference::TimedOut { oracle: expected.timed_out, tested: actual.timed_out });
        return found;
    }
    if expected.code != actual.code {
        found.push(Difference::ExitCode { expected: expected.code, actual: actual.code });
    }
    let shown = with_command_of(&expected.stdout, &actual.stdout);
    if let Some(at) = first_difference(&expected.stdout, &shown) {
        found.push(Difference::Stream { stream: "stdout", at });
    }
    if stderr {
        let old = without_synopsis(&expected.stderr);
        let new = without_details(&without_synopsis(&actual.stderr));
        if let Some(at) = first_difference(&old, &new) {
            found.push(Difference::Stream { stream: "stderr", at });
        }
    }
    found
}

/// Replaces the command line in FleetBLAST's SAM report by the oracle's, if the two differ only by
/// FleetBLAST's options for ranks.
fn with_command_of<'a>(expected: &[u8], actual: &'a [u8]) -> Cow<'a, [u8]> {
    let (Some(old), Some(new)) = (command(expected), command(actual)) else { return actual.into() };
    let Some(options) = find(old, b" ").and_then(|from| Some(from..find(old, b"\tPN:")?)) else {
        return actual.into();
    };
    let says_more = old != new
        && new.starts_with(&old[..options.start])
        && find(new, old[options].trim_ascii_end()).is_some();
    match find(actual, new) {
        Some(at) if says_more => [&actual[..at], old, &actual[at + new.len()..]].concat().into(),
        _ => actual.into(),
    }
}

/// Returns the line with the command in the header of a SAM report.
fn command(report: &[u8]) -> Option<&[u8]> {
    let mut head = report.split_inclusive(|&b| b == b'\n').take_while(|line| line[0] == b'@');
    head.find(|line| line.starts_with(b"@PG\t"))
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len().max(1)).position(|window| window == part)
}

/// Part of the message that FleetBLAST does not support a search on ranks.
pub const ON_RANKS: &str = "on ranks yet";
/// Parts of the messages that FleetBLAST does not support a search on ranks.
pub const REFUSED_ON_RANKS: [&str; 2] = [ON_RANKS, WITH_STRATEGY];
/// End of the messages that FleetBLAST does not support search strategies for this search.
const WITH_STRATEGY: &str = "_search_strategy yet";
/// Part of the message that archives do not support an option.
pub const IN_ARCHIVES: &str = "with -outfmt 11 yet";
/// Part of FleetBLAST's message that it does not search an alias whose stated residue count is 0.
/// (The alias states 0 if its list selects only sequences of a few bases.)
pub const UNCOUNTED: &str = "aliases that count no residues";
/// Parts of the messages with which FleetBLAST refuses to write metadata of a search: by any route,
/// of the requested kind, or with the requested report.
pub const REFUSED_METADATA: [&str; 9] = [
    WITH_STRATEGY,
    "with -metadata_out yet",
    "with -io_ranks yet",
    "with -send yet",
    "with -metadata hits (the default) yet",
    "with -metadata oids yet",
    "with -metadata auto yet",
    IN_ARCHIVES,
    "metadata with -outfmt 8, 9 and 12 yet",
];

/// Whether FleetBLAST refused the search with a message that contains `words`. Always false if
/// `may_be` is false, which says that FleetBLAST must not refuse.
pub fn is_refusal(may_be: bool, words: &str, actual: &Outcome) -> bool {
    let says = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        line.contains("FleetBLAST") && line.contains(words)
    };
    may_be && actual.code == 1 && actual.stderr.split(|&b| b == b'\n').any(says)
}

/// Whether FleetBLAST refused the search with one of these messages; see [`is_refusal`].
pub fn is_one_of_refusals(may_be: bool, messages: &[&str], actual: &Outcome) -> bool {
    messages.iter().any(|words| is_refusal(may_be, words, actual))
}

/// Returns the text without the option synopsis, which goes from `USAGE` to the next empty line.
/// FleetBLAST rightly names its own program and options there.
fn without_synopsis(text: &[u8]) -> Vec<u8> {
    let mut inside = false;
    let lines = text.split_inclusive(|&b| b == b'\n').filter(|line| {
        inside = (inside || line == b"USAGE\n") && line != b"\n";
        !inside
    });
    lines.flatten().copied().collect()
}

/// Removes the details that FleetBLAST adds to messages, on lines of their own in parentheses.
fn without_details(text: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|&b| b == b'\n').filter(|line| !line.starts_with(b"("));
    lines.flatten().copied().collect()
}

/// Returns the first difference between two texts; `None` if they are equal.
pub fn first_difference(expected: &[u8], actual: &[u8]) -> Option<LineDifference> {
    if expected == actual {
        return None;
    }
    let mut old = expected.split_inclusive(|&b| b == b'\n');
    let mut new = actual.split_inclusive(|&b| b == b'\n');
    let (mut query, mut hit) = (None, None);
    let mut found: Option<LineDifference> = None;
    let mut line = 0;
    loop {
        let (old, new) = (old.next(), new.next());
        if old.is_none() && new.is_none() {
            return found;
        }
        line += 1;
        if old == new {
            if found.is_none() {
                note_context(old.unwrap_or_default(), &mut query, &mut hit);
            }
            continue;
        }
        match &mut found {
            Some(found) => found.differing_lines += 1,
            None => {
                found = Some(LineDifference {
                    line,
                    expected: old.map(<[u8]>::to_vec),
                    actual: new.map(<[u8]>::to_vec),
                    context: query.take().into_iter().chain(hit.take()).collect(),
                    differing_lines: 1,
                })
            }
        }
    }
}

/// Stores a line of format 0, 5 or 7 that names the query or the hit. In formats 6 and 10 the
/// differing line itself names both.
fn note_context(line: &[u8], query: &mut Option<String>, hit: &mut Option<String>) {
    let starts = |prefix: &str| line.starts_with(prefix.as_bytes());
    let text = || Some(String::from_utf8_lossy(line).trim().to_string());
    if starts("Query= ") || starts("# Query: ") || starts("  <Iteration_query-def>") {
        (*query, *hit) = (text(), None);
    } else if starts(">") || starts("  <Hit_def>") {
        *hit = text();
    }
}

/// Describes a difference for the log.
pub fn describe(difference: &Difference) -> String {
    match difference {
        Difference::TimedOut { oracle, tested } => {
            let who = match (oracle, tested) {
                (true, true) => "both programs",
                (true, false) => "the oracle",
                _ => "FleetBLAST",
            };
            format!("{who} took too long and was killed")
        }
        Difference::ExitCode { expected, actual } => {
            format!("exit code: oracle {expected}, FleetBLAST {actual}")
        }
        Difference::Resume(what) => format!("interrupted and resumed: {what}"),
        Difference::Stream { stream, at } => {
            let mut text =
                format!("{stream} line {} ({} lines differ):\n", at.line, at.differing_lines);
            for context in &at.context {
                text += &format!("    in         {context}\n");
            }
            text += &format!("    oracle     {}\n", format_line(at.expected.as_deref()));
            text + &format!("    FleetBLAST {}", format_line(at.actual.as_deref()))
        }
    }
}

/// Formats a line with visible tabs and control bytes.
fn format_line(line: Option<&[u8]>) -> String {
    match line {
        None => "(end of output)".to_string(),
        Some(line) => line.escape_ascii().to_string().replace("\\t", " \\t "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(stdout: &str, stderr: &str, code: i32) -> Outcome {
        Outcome { stdout: stdout.into(), stderr: stderr.into(), code, cpu: 0.0, timed_out: false }
    }

    #[test]
    fn equal_outcomes_have_no_difference() {
        let same = outcome("a\nb", "w", 0);
        assert!(compare(&same, &same, true).is_empty());
    }

    #[test]
    fn the_first_line_is_found_with_query_and_hit() {
        let old = "Query= q1 x\n\n>s1 one\n Score = 7\nrest\n";
        let new = "Query= q1 x\n\n>s1 one\n Score = 8\nrest\nmore\n";
        let at = first_difference(old.as_bytes(), new.as_bytes()).unwrap();
        assert_eq!((at.line, at.differing_lines), (4, 2));
        assert_eq!(at.context, ["Query= q1 x", ">s1 one"]);
        assert_eq!(at.actual.unwrap(), b" Score = 8\n");
    }

    #[test]
    fn a_missing_last_line_end_is_a_difference() {
        let at = first_difference(b"a\nb\n", b"a\nb").unwrap();
        assert_eq!((at.line, at.actual.as_deref()), (2, Some(&b"b"[..])));
        let at = first_difference(b"a\n", b"").unwrap();
        assert_eq!((at.line, at.actual), (1, None));
    }

    #[test]
    fn the_synopsis_does_not_count_but_the_error_does() {
        let old = outcome("", "USAGE\n  blastp [-h]\n    [-x]\n\nDESCRIPTION\nError: a\n", 1);
        let new = outcome("", "USAGE\n  fleet blastp\n\nDESCRIPTION\nError: a\n", 1);
        assert!(compare(&old, &new, true).is_empty());
        let wrong = outcome("", "USAGE\n  fleet blastp\n\nDESCRIPTION\nError: b\n", 1);
        assert_eq!(compare(&old, &wrong, true).len(), 1);
    }

    #[test]
    fn options_for_ranks_do_not_count_in_the_command_of_sam() {
        let report =
            |command: &str| format!("@HD\tVN\n@PG\tID:0\tCL:blastn {command} \tPN:blastn\nline\n");
        let of = |command: &str| outcome(&report(command), "", 0);
        let expected = of("-query q -outfmt 17");
        assert!(compare(&expected, &of("-ranks 2 -query q -outfmt 17"), false).is_empty());
        assert!(compare(&expected, &of("-query q -outfmt 17 -resume"), false).is_empty());
        assert_eq!(compare(&expected, &of("-ranks 2 -query q"), false).len(), 1);
        let other =
            outcome(&report("-ranks 2 -query q -outfmt 17").replace("line", "other"), "", 0);
        assert_eq!(compare(&expected, &other, false).len(), 1);
    }

    #[test]
    fn stderr_counts_only_where_asked() {
        let (a, b) = (outcome("x", "w1", 1), outcome("x", "w2", 1));
        assert!(compare(&a, &b, false).is_empty());
        assert_eq!(compare(&a, &b, true).len(), 1);
        let codes = compare(&a, &outcome("x", "w1", 2), true);
        assert_eq!(codes, [Difference::ExitCode { expected: 1, actual: 2 }]);
    }

    #[test]
    fn stderr_may_have_details_on_lines_of_their_own() {
        let oracle = outcome("x", "Error: no sequence\n", 1);
        let with_details = outcome("x", "Error: no sequence\n(db.fa, line 2)\n", 1);
        assert!(compare(&oracle, &with_details, true).is_empty());
        assert_eq!(compare(&with_details, &oracle, true).len(), 1);
    }
}

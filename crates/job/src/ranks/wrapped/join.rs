//! Joins the outputs of all blocks into one. Selects the parts of each output, and renumbers
//! queries and iterations.

use serde::{Deserialize, Serialize};

use crate::plan::OutputJoin;

/// Last bytes of the head of a pairwise report. The head describes the database.
const LETTERS: &[u8] = b" total letters\n\n";
/// Start of the tail of a pairwise report.
const DATABASE: &[u8] = b"\n\n  Database: ";
/// Tags before the first iteration and after the last one in XML.
const ITERATIONS: [&[u8]; 2] = [b"<BlastOutput_iterations>\n", b"</BlastOutput_iterations>\n"];
/// First tag of an iteration in XML.
const ITERATION: &[u8] = b"<Iteration>\n";
/// Tags around the number of an iteration.
const NUMBER: [&[u8]; 2] = [b"  <Iteration_iter-num>", b"</Iteration_iter-num>\n"];
/// Tags around the number of a query in its identifier.
const QUERY: [&[u8]; 2] = [b"  <Iteration_query-ID>Query_", b"</Iteration_query-ID>\n"];
/// First tag of a warning in XML.
const MESSAGE: &[u8] = b"  <Iteration_message>";
/// Prefix of the names that BLAST+ gives to queries without identifiers.
const NUMBERED: &[u8] = b"Query_";
/// Text around the number of queries at the end of a table with comments.
const PROCESSED: [&[u8]; 2] = [b"# BLAST processed ", b" queries\n"];

/// The output for a block, divided into head, body and tail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputParts {
    head: Vec<u8>,
    body: Vec<u8>,
    tail: Vec<u8>,
    /// Number of iterations in XML, or of processed queries in a table with comments; otherwise 0.
    pub count: u64,
}

/// Position of a block's output among the outputs of all blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputPosition {
    /// Sum of [`OutputParts::count`] over the outputs before this one.
    pub count_before: u64,
    /// Number of queries in the blocks before this one.
    pub queries: u64,
    /// Whether this is the first output.
    pub is_first: bool,
    /// Whether this is the last output.
    pub is_last: bool,
}

/// Divides the output for a block into its parts.
///
/// # Errors
/// The output is not in the expected format. The text describes the fault.
pub fn divide_output(join: OutputJoin, output: Vec<u8>) -> Result<OutputParts, String> {
    let (start, end, count) = match join {
        OutputJoin::Plain => (0, output.len(), 0),
        OutputJoin::Report => {
            let start = find_end(&output, LETTERS)
                .ok_or("no report of BLAST+: it does not describe the database")?;
            let end = memchr::memmem::rfind(&output, DATABASE);
            (
                start,
                end.filter(|&end| end >= start).ok_or("a report of BLAST+ that is not whole")?,
                0,
            )
        }
        OutputJoin::Xml => {
            let start = find_end(&output, ITERATIONS[0]).ok_or("no XML of BLAST+ (-outfmt 5)")?;
            let end = memchr::memmem::rfind(&output, ITERATIONS[1]);
            let end = end.filter(|&end| end >= start).ok_or("XML that is not whole")?;
            (start, end, memchr::memmem::find_iter(&output[start..end], ITERATION).count() as u64)
        }
        OutputJoin::Comments => {
            let not_whole = "no table with comments (-outfmt 7), or one that is not whole";
            let end = memchr::memmem::rfind(&output, PROCESSED[0]).ok_or(not_whole)?;
            let number = &output[end + PROCESSED[0].len()..];
            let number = number.strip_suffix(PROCESSED[1]).ok_or(not_whole)?;
            let count = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
            (0, end, count.ok_or(not_whole)?)
        }
    };
    let mut head = output;
    let tail = head.split_off(end);
    let body = head.split_off(start);
    Ok(OutputParts { head, body, tail, count })
}

/// Returns the bytes that the output for a block contributes to the joined output.
pub fn joined_part(join: OutputJoin, parts: &OutputParts, position: OutputPosition) -> Vec<u8> {
    let mut placed = if position.is_first { parts.head.clone() } else { Vec::new() };
    match join {
        OutputJoin::Xml => renumber_iterations(&parts.body, position, &mut placed),
        OutputJoin::Plain | OutputJoin::Report | OutputJoin::Comments => {
            placed.extend_from_slice(&parts.body)
        }
    }
    if position.is_last {
        match join {
            OutputJoin::Comments => {
                let all = position.count_before + parts.count;
                placed.extend([PROCESSED[0], all.to_string().as_bytes(), PROCESSED[1]].concat());
            }
            _ => placed.extend_from_slice(&parts.tail),
        }
    }
    placed
}

/// Appends the body of an XML output to `into`. Renumbers its iterations, and the queries that
/// BLAST+ named by numbers.
fn renumber_iterations(body: &[u8], position: OutputPosition, into: &mut Vec<u8>) {
    for line in body.split_inclusive(|&byte| byte == b'\n') {
        if let Some(number) = parse_between(line, NUMBER) {
            into.extend(
                [NUMBER[0], (number + position.count_before).to_string().as_bytes(), NUMBER[1]]
                    .concat(),
            );
        } else if let Some(number) = parse_between(line, QUERY) {
            into.extend(
                [QUERY[0], (number + position.queries).to_string().as_bytes(), QUERY[1]].concat(),
            );
        } else if line.starts_with(MESSAGE) {
            renumber_message(line, position.queries, into);
        } else {
            into.extend_from_slice(line);
        }
    }
}

/// Appends a warning to `into`, and renumbers the queries that it names. `before` is the number of
/// queries before the block.
fn renumber_message(line: &[u8], before: u64, into: &mut Vec<u8>) {
    let mut rest = line;
    while let Some(at) = find_end(rest, NUMBERED) {
        into.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number =
            std::str::from_utf8(&rest[..digits]).ok().and_then(|digits| digits.parse::<u64>().ok());
        if let Some(number) = number {
            into.extend((number + before).to_string().into_bytes());
            rest = &rest[digits..];
        }
    }
    into.extend_from_slice(rest);
}

fn find_end(bytes: &[u8], what: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, what).map(|at| at + what.len())
}

fn parse_between(line: &[u8], [before, behind]: [&[u8]; 2]) -> Option<u64> {
    let number = line.strip_prefix(before)?.strip_suffix(behind)?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joins the outputs of several blocks. Each comes with the number of its queries.
    fn join_outputs(join: OutputJoin, outputs: &[(&str, u64)]) -> String {
        let mut position = OutputPosition { is_first: true, ..OutputPosition::default() };
        let mut all = Vec::new();
        for (number, (output, queries)) in outputs.iter().enumerate() {
            position.is_last = number + 1 == outputs.len();
            let parts = divide_output(join, output.as_bytes().to_vec()).expect("an output");
            all.extend(joined_part(join, &parts, position));
            position.count_before += parts.count;
            position.queries += queries;
            position.is_first = false;
        }
        String::from_utf8(all).expect("text")
    }

    #[test]
    fn joined_xml_is_one_document_with_consecutive_numbers() {
        let iteration = |number: u64, query: u64| {
            format!(
                "<Iteration>\n  <Iteration_iter-num>{number}</Iteration_iter-num>\n  <Iteration_query-ID>Query_{query}</Iteration_query-ID>\n  \
                 <Iteration_query-def>Query_1 is its title</Iteration_query-def>\n  <Iteration_message>Query_{query} a..: Query_{query} Query_ x</Iteration_message>\n</Iteration>\n"
            )
        };
        let document = |iterations: &[(u64, u64)]| {
            let iterations: String =
                iterations.iter().map(|&(number, query)| iteration(number, query)).collect();
            format!(
                "<?xml?>\n<BlastOutput_iterations>\n{iterations}</BlastOutput_iterations>\n</BlastOutput>\n\n"
            )
        };
        // The first query of each block has two iterations.
        let (first, second) = (document(&[(1, 1), (2, 1), (3, 2)]), document(&[(1, 1), (2, 1)]));
        let all = document(&[(1, 1), (2, 1), (3, 2), (4, 3), (5, 3)]);
        assert_eq!(join_outputs(OutputJoin::Xml, &[(&first, 2), (&second, 1)]), all);
        assert_eq!(join_outputs(OutputJoin::Xml, &[(&first, 2)]), first);
    }

    #[test]
    fn tables_have_one_count() {
        let outputs = [
            ("# a\nx\n# BLAST processed 2 queries\n", 2),
            ("# b\n# BLAST processed 11 queries\n", 5),
        ];
        assert_eq!(
            join_outputs(OutputJoin::Comments, &outputs),
            "# a\nx\n# b\n# BLAST processed 13 queries\n"
        );
        assert_eq!(join_outputs(OutputJoin::Plain, &[("a\n", 1), ("", 1), ("b\n", 1)]), "a\nb\n");
    }

    #[test]
    fn reports_have_one_head_and_one_tail() {
        let report = |body: &str| {
            format!(
                "BLASTP\nDatabase: d\n  5 sequences; 7 total letters\n\n{body}\n\n  Database: d\n    Matrix: m\n"
            )
        };
        let outputs = [(&*report("\n\nQuery= a\nend\n"), 1), (&*report("\n\nQuery= b\nend\n"), 1)];
        assert_eq!(
            join_outputs(OutputJoin::Report, &outputs),
            report("\n\nQuery= a\nend\n\n\nQuery= b\nend\n")
        );
    }

    #[test]
    fn incomplete_outputs_are_refused() {
        for (join, output) in [
            (OutputJoin::Report, "x total letters\n\nQuery= a\n"),
            (OutputJoin::Report, ""),
            (OutputJoin::Xml, "<BlastOutput_iterations>\n<Iteration>\n"),
            (OutputJoin::Xml, "</BlastOutput_iterations>\n<BlastOutput_iterations>\n"),
            (OutputJoin::Comments, "# a\n"),
            (OutputJoin::Comments, "# BLAST processed 2 queries\nmore\n"),
            (OutputJoin::Comments, "# BLAST processed x queries\n"),
        ] {
            assert!(divide_output(join, output.as_bytes().to_vec()).is_err(), "{join:?} {output}");
        }
    }
}

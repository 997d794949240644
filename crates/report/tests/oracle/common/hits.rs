//! Reads hits from the output of BLAST+: scores, ranges and gaps from XML, and methods from the
//! pairwise report. XML has values of six digits, which suffice for the reports.

use std::ops::Range;

use fleetblast_engine::hits::{Adjustment, Alignment, Edit, EditOp, SubjectHit};
use fleetblast_seq::frame::{Frame, Strand};

/// Returns the hits of each query. It recognises subjects by their lengths, which must differ.
/// `parts` are the searched ranges of the queries.
pub fn read(
    xml: &[u8],
    pairwise: &[u8],
    subjects: &[Vec<u8>],
    parts: &[Range<u32>],
) -> Vec<Vec<SubjectHit>> {
    let xml = String::from_utf8_lossy(xml).into_owned();
    let pairwise = String::from_utf8_lossy(pairwise).into_owned();
    let mut methods = pairwise.lines().filter(|line| line.starts_with(" Score = ")).map(|line| {
        if line.ends_with("Compositional matrix adjust.") {
            Adjustment::Matrix
        } else if line.ends_with("Composition-based stats.") {
            Adjustment::Scaled
        } else {
            Adjustment::None
        }
    });
    let mut queries = Vec::new();
    for (iteration, part) in xml.split("<Iteration>").skip(1).zip(parts) {
        let mut hits = Vec::new();
        for hit in iteration.split("<Hit>").skip(1) {
            let length: usize = parse_number(hit, "Hit_len");
            let mut same = (0..subjects.len()).filter(|&oid| subjects[oid].len() == length);
            let oid = same.next().unwrap() as u32;
            assert_eq!(same.next(), None, "two subjects of length {length}");
            let alignments = hit.split("<Hsp>").skip(1);
            let alignments =
                alignments.map(|hsp| alignment(hsp, part, methods.next().unwrap())).collect();
            hits.push(SubjectHit::new(oid, alignments));
        }
        queries.push(hits);
    }
    assert_eq!(methods.next(), None, "more alignments in the pairwise report");
    queries
}

/// Changes e-values and bit scores by less than their last digit in XML. Rounding or cutting six
/// digits to three sometimes differs from BLAST+, which starts from unrounded values. `tabular` has
/// the columns `evalue` and `bitscore` with the expected texts.
pub fn settle(hits: &mut [Vec<SubjectHit>], tabular: &[u8]) {
    let tabular = String::from_utf8_lossy(tabular).into_owned();
    let mut texts = tabular.lines();
    for alignment in hits.iter_mut().flatten().flat_map(|hit| &mut hit.alignments) {
        let (text, bits) = texts.next().unwrap().split_once('\t').unwrap();
        if alignment.bit_score > 99.9 && format!("{}", alignment.bit_score as i64) != bits {
            alignment.bit_score *= 1.0 - 1e-7;
        }
        if !text.contains('e') {
            continue;
        }
        let rounded = |value: f64| format!("{value:.2e}").parse() == text.parse::<f64>();
        let near = [1.0, 1.0 + 1e-7, 1.0 - 1e-7].map(|factor| alignment.evalue * factor);
        alignment.evalue = near.into_iter().find(|&value| rounded(value)).unwrap();
    }
}

/// Returns the messages of each query, without `No hits found`.
pub fn messages(xml: &[u8]) -> Vec<String> {
    let xml = String::from_utf8_lossy(xml).into_owned();
    let messages = xml.split("<Iteration>").skip(1).map(|iteration| {
        if !iteration.contains("<Iteration_message>") {
            return String::new();
        }
        let message = find_text(iteration, "Iteration_message");
        let message = message.strip_suffix("No hits found").unwrap_or(message);
        if iteration.contains("<Hit>") {
            message
        } else {
            message.strip_suffix(' ').unwrap_or(message)
        }
        .to_string()
    });
    messages.collect()
}

fn find_text<'x>(xml: &'x str, name: &str) -> &'x str {
    let start = xml.find(&format!("<{name}>")).unwrap() + name.len() + 2;
    &xml[start..start + xml[start..].find('<').unwrap()]
}

fn parse_number<T: std::str::FromStr<Err: std::fmt::Debug>>(xml: &str, name: &str) -> T {
    find_text(xml, name).parse().unwrap()
}

/// Converts columns of two letters to edits: runs of columns of the same kind.
pub fn edits(columns: impl Iterator<Item = (u8, u8)>) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for column in columns {
        let op = match column {
            (b'-', _) => EditOp::GapInQuery,
            (_, b'-') => EditOp::GapInSubject,
            _ => EditOp::Substitution,
        };
        match edits.last_mut() {
            Some(last) if last.op == op => last.len += 1,
            _ => edits.push(Edit { op, len: 1 }),
        }
    }
    edits
}

fn alignment(hsp: &str, part: &Range<u32>, adjustment: Adjustment) -> Alignment {
    let position = |name: &str| parse_number::<u32>(hsp, name);
    let [q_from, q_to] = ["Hsp_query-from", "Hsp_query-to"].map(|name| position(name) - part.start);
    let [s_from, s_to] = ["Hsp_hit-from", "Hsp_hit-to"].map(position);
    let columns = find_text(hsp, "Hsp_qseq").bytes().zip(find_text(hsp, "Hsp_hseq").bytes());
    let mut found = Alignment {
        score: parse_number(hsp, "Hsp_score"),
        bit_score: parse_number(hsp, "Hsp_bit-score"),
        evalue: parse_number(hsp, "Hsp_evalue"),
        linked: 1,
        query: q_from - 1..q_to,
        subject: s_from.min(s_to) - 1..s_to.max(s_from),
        context: 0,
        frame: match parse_number(hsp, "Hsp_hit-frame") {
            0 => Frame::Protein,
            _ => Frame::Strand(Strand::Plus),
        },
        edits: edits(columns),
        computation_index: 0,
        pattern_occurrence: 0,
        adjustment,
        positives: None,
        stored: None,
    };
    // In blastn's alignments the query is the reverse complement, and the subject is as written.
    if parse_number::<i8>(hsp, "Hsp_hit-frame") < 0 {
        let length = part.len() as u32;
        found.query = length - found.query.end..length - found.query.start;
        found.context = 1;
        found.edits.reverse();
    }
    found
}

//! Formats the pairwise report (format 0): prologue, query, alignments, footer, epilogue.

use std::ops::Range;

use fleetblast_db::Defline;
use fleetblast_engine::hits::{Adjustment, Alignment, SubjectHit};
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::id::{self, SeqId};

use crate::error::ReportError;
use crate::letters::PositivePairs;
use crate::links::LinkPlace;
use crate::model::{DatabaseParagraph, QueryResult, ReportSetup, SubjectSource};
use crate::names::{self, SubjectNames, id_label, is_bare_number};
use crate::number;
use crate::order::sort_alignments;
use crate::pair::AlignmentRows;
use crate::program;
use crate::rows::{self, MarkedColumns};
use crate::text::{self, TEXT_WIDTH};

/// Appends the text of the pairwise report before the first query: banner, papers and databases.
pub fn prologue(setup: &ReportSetup, out: &mut Vec<u8>) {
    if setup.output.html {
        out.extend_from_slice(
            b"<HTML>\n<HEAD><TITLE>BLAST Search Results</TITLE></HEAD>\n\
              <BODY BGCOLOR=\"#FFFFFF\" LINK=\"#0000FF\" VLINK=\"#660099\" ALINK=\"#660099\">\n<PRE>\n\n<b>",
        );
        out.extend_from_slice(setup.banner().as_bytes());
        out.extend_from_slice(b"</b>\n\n\n");
    } else {
        out.extend_from_slice(setup.banner().as_bytes());
        out.extend_from_slice(b"\n\n\n");
    }
    let papers = setup.citations.papers().iter();
    for (i, paper) in papers.filter(|paper| paper.is_cited_in_text()).enumerate() {
        if i > 0 {
            out.push(b'\n');
        }
        paper.cite(setup.output.html, out);
    }
    let databases = &setup.database.paragraphs;
    out.extend_from_slice(b"\n\nDatabase: ");
    let titles: Vec<_> = databases.iter().map(|database| &database.title[..]).collect();
    text::wrap(&titles.join(&b"; "[..]), TEXT_WIDTH, false, out);
    if let Some(first) = databases.first() {
        masked_using(b"", first, out);
    }
    let sequences = databases.iter().map(|database| database.sequences).sum();
    let residues = databases.iter().map(|database| database.residues).sum();
    out.extend_from_slice(
        format!(
            "           {} sequences; {} total letters\n\n",
            number::with_commas(sequences),
            number::with_commas(residues)
        )
        .as_bytes(),
    );
}

/// Appends a line with the name of the algorithm that made the stored masks, if the search uses
/// them.
fn masked_using(indent: &[u8], database: &DatabaseParagraph, out: &mut Vec<u8>) {
    if !database.masked_using.is_empty() {
        out.extend_from_slice(&[indent, b"Masked using: ", &database.masked_using, b"\n"].concat());
    }
}

/// Appends the query's name and its length. In a report of repeated searches, the number of the
/// search comes first.
pub fn query_header(setup: &ReportSetup, query: &QueryResult, out: &mut Vec<u8>) {
    if let Some(round) = query.repeated_search {
        out.extend_from_slice(format!("Results from round {}\n", round.number).as_bytes());
    }
    out.extend_from_slice(b"\n\n");
    query_name(setup, query, out);
}

/// Appends the query's name and its length.
pub fn query_name(setup: &ReportSetup, query: &QueryResult, out: &mut Vec<u8>) {
    let html = setup.output.html;
    out.extend_from_slice(if html { b"<b>Query=</b> " } else { b"Query= " });
    let line = names::query_display_name(setup, query);
    text::wrap(&if html { text::escape_html(&line) } else { line }, TEXT_WIDTH, html, out);
    out.extend_from_slice(format!("\nLength={}\n", query.residues.len()).as_bytes());
}

/// Appends the titles and the alignments of a subject. `rank` is the subject's place in the printed
/// list, from 1.
pub fn subject_block(
    setup: &ReportSetup,
    query: &QueryResult,
    source: &dyn SubjectSource,
    hit: &SubjectHit,
    rank: usize,
    out: &mut Vec<u8>,
) -> Result<(), ReportError> {
    let subject = SubjectNames::read(setup, source, hit.oid)?;
    if subject.is_from_fasta {
        let title = subject.title();
        out.push(b'>');
        name_line(setup, subject.chosen_defline().ids.as_slice(), &title, true, rank, out);
    } else {
        let lines = subject.shown_deflines(setup, hit.alignments.len());
        database_titles(setup, &subject, &lines, rank, out);
    }
    out.extend_from_slice(format!("Length={}\n\n", source.shown_length(hit.oid)).as_bytes());
    let positives = PositivePairs::for_text(setup.params);
    let alignments = sort_alignments(setup, query, source, hit)?;
    let pairs = alignments
        .iter()
        .map(|&(oid, alignment)| AlignmentRows::new(query, source, oid, alignment));
    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
    let masks = subject_masks(setup, source, hit.oid, &subject, pairs.iter());
    for ((_, alignment), pair) in alignments.into_iter().zip(&pairs) {
        score_lines(alignment, pair, &positives, out);
        let masked = [
            pair.masked_query_columns(
                &query.own_masks_within(alignment.context, &pair.positions.query),
            ),
            pair.masked_subject_columns(&masks),
        ];
        let feature = query.occurrence().map(|occurrence| {
            pair.masked_query_columns(std::slice::from_ref(occurrence.place()))
                .pop()
                .unwrap_or_default()
        });
        let marks = MarkedColumns { masks: [&masked[0], &masked[1]], pattern: feature };
        rows::rows(setup, pair, &marks, &positives, out);
        out.push(b'\n');
    }
    Ok(())
}

/// Returns the masks of a subject that reports show: those that overlap any of its alignments.
/// BLAST+ shows none of translated subjects, because stored masks have no frame.
///
/// Masks count positions in the whole subject. BLAST+ compares them with positions in the searched
/// range, which `-subject_loc` shifts (`s_SeqIntervalToSeqLocInfo`, seqinfosrc_seqvec.cpp).
pub fn subject_masks<'a>(
    setup: &ReportSetup,
    source: &dyn SubjectSource,
    oid: u32,
    names: &SubjectNames,
    pairs: impl Iterator<Item = &'a AlignmentRows> + Clone,
) -> Vec<Range<u32>> {
    if !names.is_aligned_by_first_id() || setup.params.subject_translation().is_some() {
        return Vec::new();
    }
    let origin = source.extent(oid).searched_range.start;
    let touches = |mask: &&Range<u32>| {
        let mut ranges = pairs.clone().map(|pair| &pair.positions.subject.sequence_range);
        ranges.any(|range| range.start - origin < mask.end && mask.start <= range.end - origin)
    };
    source.masks(oid).iter().filter(touches).cloned().collect()
}

/// Appends the identifier and title of each definition line. If there are more than eight, HTML
/// hides those after the third behind a link.
fn database_titles(
    setup: &ReportSetup,
    subject: &SubjectNames,
    lines: &[&Defline],
    rank: usize,
    out: &mut Vec<u8>,
) {
    const MOST: usize = 8;
    const SHOWN: usize = 3;
    let folded = setup.output.html && lines.len() > MOST;
    for (i, line) in lines.iter().enumerate() {
        out.push(if i == 0 { b'>' } else { b' ' });
        if folded && i == SHOWN {
            let anchor =
                String::from_utf8_lossy(&anchor(&lines[i - 1].ids, |id| id_label(id, true)))
                    .into_owned();
            let more = lines.len() - SHOWN;
            out.extend_from_slice(
                format!(
                    "<a href=\"#\" title=\"Other sequence titles\"  onmouseover=\"showInfo(this)\" \
                     class=\"resArrowLinkW mdl hiding\" id=\"{anchor}\">{more} more sequence titles</a>\n \
                     <div id=\"info_{anchor}\" class=\"helpbox mdlbox hidden\">"
                )
                .as_bytes(),
            );
        }
        let made;
        let title = if line.title.is_empty() {
            made = subject.title();
            &made
        } else {
            &line.title
        };
        name_line(setup, &line.ids, title, i > 0, rank, out);
    }
    if folded {
        out.extend_from_slice(b"</div>");
    }
}

/// Appends a line with an identifier, if the report shows it, a blank and the title. Without an
/// identifier, the blank is printed only if `blank` is true.
fn name_line(
    setup: &ReportSetup,
    ids: &[SeqId],
    title: &[u8],
    blank: bool,
    rank: usize,
    out: &mut Vec<u8>,
) {
    let before = out.len();
    let html = setup.output.html;
    let gi = id::first_gi(ids);
    let Some(shown) = id::choose_report_id(ids) else { return };
    let link = if html {
        program::links(setup).start_tag(ids, &id_label(shown, true), LinkPlace::Alignments, rank)
    } else {
        Vec::new()
    };
    out.extend_from_slice(&link);
    let with_gi = setup.output.show_gis && gi > 0;
    if with_gi && !matches!(shown, SeqId::Gi(_)) {
        out.extend_from_slice(format!("gi|{gi}|").as_bytes());
    }
    if !is_bare_number(shown) {
        match shown {
            SeqId::Local(local) => out.extend(local.text()),
            _ if with_gi => out.extend(shown.fasta()),
            _ => out.extend(shown.format_for_report()),
        }
    }
    if html {
        if !link.is_empty() {
            out.extend_from_slice(b"</a>");
        }
        out.extend_from_slice(b"<a name=");
        out.extend(anchor(
            ids,
            if setup.database.is_subject { SeqId::accession } else { SeqId::accession_version },
        ));
        out.extend_from_slice(b"></a>");
    }
    if blank || out.len() > before {
        out.push(b' ');
    }
    text::wrap_title(&if html { text::escape_html(title) } else { title.to_vec() }, out);
    out.push(b'\n');
}

/// Returns the HTML anchor of a subject's alignments: the gi, or else the identifier as `name`
/// formats it.
fn anchor(ids: &[SeqId], name: fn(&SeqId) -> Vec<u8>) -> Vec<u8> {
    match id::first_gi(ids) {
        gi @ 1.. => gi.to_string().into_bytes(),
        _ => id::choose_report_id(ids).map_or_else(Vec::new, name),
    }
}

/// Appends the lines above an alignment's rows. They are score, e-value and method; identities,
/// positives and gaps; strands for nucleotides, frames for translations.
fn score_lines(
    alignment: &Alignment,
    pair: &AlignmentRows,
    positives: &PositivePairs,
    out: &mut Vec<u8>,
) {
    let method = match alignment.adjustment {
        Adjustment::None => "",
        Adjustment::Scaled => ", Method: Composition-based stats.",
        Adjustment::Matrix => ", Method: Compositional matrix adjust.",
    };
    let columns = pair.column_count();
    let share = |count: usize| format!("{count}/{columns} ({}%)", number::percent(count, columns));
    let bits = number::bits(alignment.bit_score);
    let evalue = number::evalue(alignment.evalue);
    let score = alignment.score;
    let linked = match alignment.linked {
        0 | 1 => String::new(),
        count => format!("({count})"),
    };
    let mut text = format!(" Score = {bits} bits ({score}),  Expect{linked} = {evalue}{method}\n");
    text += &format!(" Identities = {}", share(pair.identities));
    if positives.are_reported() {
        text += &format!(", Positives = {}", share(pair.count_positives(positives)));
    }
    text += &format!(", Gaps = {}\n", share(pair.gap_columns - pair.overhang_columns));
    let frames = [&pair.positions.query, &pair.positions.subject].map(|position| position.frame);
    let codons = frames.iter().filter(|frame| matches!(frame, Frame::Codons(..)));
    let codons: Vec<String> = codons.map(|frame| format!("{:+}", frame.number())).collect();
    match pair.positions.subject_strand() {
        _ if !codons.is_empty() => text += &format!(" Frame = {}\n", codons.join("/")),
        Some(Strand::Plus) => text += " Strand=Plus/Plus\n",
        Some(Strand::Minus) => text += " Strand=Plus/Minus\n",
        None => {}
    }
    out.extend_from_slice(text.as_bytes());
    out.push(b'\n');
}

/// Appends the statistics of a query's search.
pub fn query_footer(setup: &ReportSetup, result: &QueryResult, out: &mut Vec<u8>) {
    let context = result.statistics();
    out.push(b'\n');
    let shown = program::statistics(setup.params, result);
    match &shown {
        Some((ungapped, _)) => parameters(ungapped, out),
        None if !result.batch_searched => parameters(&UNKNOWN, out),
        None => {}
    }
    out.push(b'\n');
    match &shown {
        Some((_, Some(gapped))) => {
            out.extend_from_slice(b"Gapped\n");
            parameters(gapped, out);
        }
        // BLAST+ prints this even for an ungapped search: it stopped before it knew the parameters.
        None if !result.batch_searched => {
            out.extend_from_slice(b"Gapped\n");
            parameters(&UNKNOWN, out);
        }
        _ => {}
    }
    out.extend_from_slice(
        format!("\nEffective search space used: {}\n", context.search_space).as_bytes(),
    );
}

/// Lambda, K and H that BLAST+ prints if it did not compute them.
const UNKNOWN: [f64; 3] = [-1.0; 3];

/// Headings of the statistical parameters, in the order of their values.
const HEADINGS: [&str; 6] =
    ["Lambda", "      K  ", "      H  ", "      a  ", "       alpha", "    sigma"];

/// Appends a line of headings and a line of parameters, each formatted as `%#8.3g `.
fn parameters(values: &[f64], out: &mut Vec<u8>) {
    let heading = HEADINGS[..values.len()].concat();
    out.extend_from_slice(heading.trim_end().as_bytes());
    out.push(b'\n');
    for &value in values {
        out.extend_from_slice(format!("{:>8} ", number::general(value, 3, true)).as_bytes());
    }
    out.push(b'\n');
}

/// Appends the text of the pairwise report after the last query: databases and scoring.
pub fn epilogue(setup: &ReportSetup, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\n\n");
    for database in &setup.database.paragraphs {
        out.extend_from_slice(b"  Database: ");
        text::wrap(&database.title, TEXT_WIDTH, false, out);
        masked_using(b"  ", database, out);
        out.extend_from_slice(b"    Posted date:  ");
        out.extend_from_slice(&database.date);
        out.extend_from_slice(
            format!(
                "\n  Number of letters in database: {}\n  Number of sequences in database:  {}\n\n",
                number::with_commas(database.residues),
                number::with_commas(database.sequences)
            )
            .as_bytes(),
        );
    }
    out.extend_from_slice(b"\n\n");
    program::scoring_lines(setup, out);
    if setup.output.html {
        out.extend_from_slice(b"</PRE>\n</BODY>\n</HTML>\n");
    }
}

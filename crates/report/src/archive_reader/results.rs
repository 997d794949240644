//! The results of an archive (`Blast4-get-search-results-reply`, blast.asn).

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_seq::asn::{AsnError, AsnReader, Malformed, Node, read_location};
use fleetblast_seq::id::SeqId;

use super::alignments::{self, StoredAlignment};
use super::{ArchiveValues, StoredArchive, StoredMask, StoredRequest, for_each_field};
use crate::asn::{ALIGNMENT, AsnValue, read_value};

const RESULTS: &[&str; 7] = &[
    "alignments",
    "phi-alignments",
    "masks",
    "ka-blocks",
    "search-stats",
    "pssm",
    "simple-results",
];
const MASK: &[&str; 2] = &["locations", "frame"];
const KARLIN: &[&str; 4] = &["lambda", "k", "h", "gapped"];
const FRAMES: &[&str; 7] = &["notset", "plus1", "plus2", "plus3", "minus1", "minus2", "minus3"];

type Result<T> = std::result::Result<T, Malformed>;

/// The results of an archive.
#[derive(Default)]
pub(super) struct SearchResults {
    alignments: Vec<StoredAlignment>,
    masks: Vec<StoredMask>,
    /// Karlin-Altschul parameters, and whether they are those of gapped alignments.
    parameters: Vec<([f64; 3], bool)>,
    /// Statistics as lines of text, such as `Length adjustment: 100`.
    statistics: Vec<Vec<u8>>,
}

impl SearchResults {
    /// Reads the results, one alignment after the other. If `values` is given, also appends the
    /// ASN.1 value of each alignment to it.
    pub fn read(
        reader: &mut AsnReader<'_>,
        mut values: Option<&mut Vec<(SeqId, AsnValue)>>,
    ) -> std::result::Result<Self, AsnError> {
        let mut results = SearchResults::default();
        for_each_field(reader, RESULTS, |reader, field| {
            let SearchResults { alignments, masks, parameters, statistics } = &mut results;
            match field {
                "alignments" => reader.for_each_element(|node| {
                    alignments::read(node, alignments)?;
                    if let (Some(values), Some(last)) = (&mut values, alignments.last()) {
                        values.push((last.query.clone(), read_value(node, &ALIGNMENT)?));
                    }
                    Ok(())
                }),
                "masks" => reader.for_each_element(|node| mask(node, masks)),
                "ka-blocks" => reader.for_each_element(|node| {
                    parameters.push(karlin(node)?);
                    Ok(())
                }),
                "search-stats" => reader.for_each_element(|node| {
                    statistics.extend(node.text().ok().map(Cow::into_owned));
                    Ok(())
                }),
                // No report needs the others.
                _ => reader.value().map(|_| ()),
            }
        })?;
        Ok(results)
    }

    /// Returns the archive of a search with these results.
    pub fn into_archive(self, request: StoredRequest, values: ArchiveValues) -> StoredArchive {
        let statistic = |name: &str| {
            let lines = self.statistics.iter();
            let mut values = lines.filter_map(|line| line.strip_prefix(name.as_bytes()));
            values.find_map(|value| std::str::from_utf8(value).ok()?.trim().parse().ok())
        };
        let parameters = |of_gapped: bool| {
            let found = self.parameters.iter().find(|(_, gapped)| *gapped == of_gapped);
            found.map_or([0.0; 3], |(parameters, _)| *parameters)
        };
        StoredArchive {
            request,
            parameters: [parameters(false), parameters(true)],
            search_space: statistic("Effective search space used:").unwrap_or(0),
            length_adjustment: statistic("Length adjustment:").unwrap_or(0),
            alignments: self.alignments,
            masks: self.masks,
            values,
        }
    }
}

fn mask(node: Node<'_>, masks: &mut Vec<StoredMask>) -> Result<()> {
    let [Some(locations), frame] = node.fields(MASK)? else {
        return node.fail("a mask without 'locations'");
    };
    let number = |frame: Node<'_>| {
        let is = |place: &usize| frame.is_word(FRAMES[*place], *place as i64);
        (0..FRAMES.len()).find(is).map_or_else(
            || frame.fail("no frame"),
            |place| Ok(if place > 3 { 3 - place as i8 } else { place as i8 }),
        )
    };
    let frame = frame.map_or(Ok(0), number)?;
    for location in locations.list()? {
        if let Some((query, ranges)) = read_location(location)? {
            if ranges.iter().any(Range::is_empty) {
                return location.fail("an interval that ends before it begins");
            }
            masks.push(StoredMask { query, frame, ranges });
        }
    }
    Ok(())
}

/// Reads Karlin-Altschul parameters (λ, K and H), and whether they are those of gapped alignments.
fn karlin(node: Node<'_>) -> Result<([f64; 3], bool)> {
    let [Some(lambda), Some(k), Some(h), Some(gapped)] = node.fields(KARLIN)? else {
        return node.fail("parameters without 'lambda', 'k', 'h' or 'gapped'");
    };
    Ok(([lambda.real()?, k.real()?, h.real()?], gapped.boolean()?))
}

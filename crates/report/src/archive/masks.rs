//! The masks of queries in an archive (`Blast4-mask`, blast.asn;
//! `CRemoteBlast::ConvertToRemoteMasks`, remote_blast.cpp).

use std::ops::Range;

use fleetblast_seq::frame::Frame;
use fleetblast_seq::id::SeqId;
use fleetblast_stats::program::SequenceForm;

use crate::archive_options::ArchiveRequest;
use crate::archive_reader::StoredMask;
use crate::asn::{AsnValue, intervals};
use crate::model::{QueryResult, ReportSetup};
use crate::names;
use crate::program::{self, EarlyMasks};

/// Makes the masks of a query that BLAST+ knows before the search: lower case, and in archives of
/// blastn (`is_prepared`) also low complexity and repeats.
pub fn known_before_search(
    setup: &ReportSetup,
    request: &ArchiveRequest,
    query: &QueryResult,
    is_prepared: bool,
) -> Vec<AsnValue> {
    // BLAST+ searches with a PSSM do not have the masks of the query.
    let has_masks = setup.params.common().lcase_masking && query.query.pssm.is_none();
    let lower_case = if has_masks { query.read.lower_case } else { &[] };
    let id = names::sequence_id(query);
    match program::early_masks(setup.params) {
        EarlyMasks::OfStrands => {
            // Masks of both strands follow each other. Lower case and repeats mask both strands,
            // even if only one is searched.
            let both = request.strand == "both" || !lower_case.is_empty() || query.read.has_repeats;
            let mut known = if is_prepared { query.known_masks() } else { lower_case.to_vec() };
            if !both && request.strand == "minus" {
                known.reverse();
            }
            let repeated = known.iter().flat_map(|mask| [mask].repeat(1 + usize::from(both)));
            let ranges: Vec<Range<u32>> = repeated.cloned().collect();
            (!ranges.is_empty()).then(|| mask(&id, &ranges, "plus1")).into_iter().collect()
        }
        EarlyMasks::LowerCaseOfFrames => {
            let frames = ["plus1", "minus1"];
            let mask_of = |range: &Range<u32>| {
                frames.map(|frame| mask(&id, std::slice::from_ref(range), frame))
            };
            lower_case.iter().flat_map(mask_of).collect()
        }
        EarlyMasks::LowerCase => {
            (!lower_case.is_empty()).then(|| mask(&id, lower_case, "notset")).into_iter().collect()
        }
    }
}

/// Makes the masks of a query with which it was searched, one for each frame.
pub fn search_masks(setup: &ReportSetup, query: &QueryResult) -> Vec<AsnValue> {
    let masks = query.result_masks();
    let of_strands = program::early_masks(setup.params) == EarlyMasks::OfStrands;
    let id = names::sequence_id(query);
    let name = |frame: Frame| if of_strands { PLUS } else { frame_name(frame.number()) };
    let by_frame = masks.chunk_by(|(frame, _), (next, _)| frame == next);
    let mask_of = |same: &[(Frame, Range<u32>)]| {
        let ranges: Vec<Range<u32>> = same.iter().map(|(_, range)| range.clone()).collect();
        mask(&id, &ranges, name(same[0].0))
    };
    by_frame.map(mask_of).collect()
}

/// Makes the masks of the queries of an archive for another archive that repeats them. Consecutive
/// masks of the same query and frame become one list. `queries` is the form of the queries.
pub fn repeat_masks(queries: SequenceForm, stored: &[StoredMask]) -> Vec<AsnValue> {
    let frame = |mask: &StoredMask| match queries {
        SequenceForm::TranslatedNucleotide => frame_name(mask.frame),
        SequenceForm::Nucleotide => PLUS,
        SequenceForm::Protein => frame_name(0),
    };
    let is_joined = |mask: &StoredMask, next: &StoredMask| {
        mask.query == next.query && frame(mask) == frame(next)
    };
    let mask_of = |same: &[StoredMask]| {
        let ranges: Vec<Range<u32>> = same.iter().flat_map(|mask| mask.ranges.clone()).collect();
        mask(&same[0].query, &ranges, frame(&same[0]))
    };
    stored.chunk_by(is_joined).map(mask_of).collect()
}

/// Name of the frame under which archives store the masks of strands.
const PLUS: &str = "plus1";

/// Returns the name of a frame (`Blast4-frame-type`, blast.asn).
fn frame_name(number: i8) -> &'static str {
    match number {
        1 => PLUS,
        2 => "plus2",
        3 => "plus3",
        -1 => "minus1",
        -2 => "minus2",
        -3 => "minus3",
        _ => "notset",
    }
}

fn mask(query: &SeqId, ranges: &[Range<u32>], frame: &'static str) -> AsnValue {
    let intervals = AsnValue::List(intervals(query, ranges));
    AsnValue::Fields(vec![
        ("locations", AsnValue::List(vec![AsnValue::choice("packed-int", intervals)])),
        ("frame", AsnValue::Word(frame)),
    ])
}

//! A search by many ranks.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{PathBuf, absolute};

use fleetblast_fleet::config::{Config, LEAST_WRITE_BUFFER, QueryOrder, Schedule, Strategy};
use fleetblast_fleet::plan::Wishes;
use fleetblast_job::error::Error;
use fleetblast_job::plan::{Checkpoint, Fleet};

use super::{Host, SearchProgram, has_old_finite_size};
use crate::options::load;
use crate::options::opt::Opt;
use crate::options::search::common::CommonOptions;
use crate::options::search::database::{self, DatabaseOptions, Lists};
use crate::options::search::files::{self, FileOptions};
use crate::options::search::fleet::{self as ranks, FleetOptions};
use crate::options::search::formatting::{self, FormattingOptions};
use crate::options::search::generic::{self, SearchOptions};
use crate::options::search::hsps::{self, HspFilteringOptions};
use crate::options::search::metadata::{self, METADATA, METADATA_OUT, SEND};
use crate::options::search::query::{self, QueryOptions};
use crate::options::search::resources::{self, ResourceOptions};
use crate::options::search::single;
use crate::options::search::threads::{self, ThreadOptions};
use crate::options::typed::lossy;

/// The size of the write buffer that an option asks for; one that is too small to be of use counts
/// as the smallest.
///
/// # Errors
/// A text that is no size.
pub fn write_buffer(option: &Opt<OsString>, text: Option<&OsStr>) -> Result<Option<u64>, Error> {
    let size = text.map(|text| load::bytes(option.name(), text)).transpose()?;
    Ok(size.map(|size| size.max(LEAST_WRITE_BUFFER)))
}

/// What the options say.
pub fn plan(program: &dyn SearchProgram, host: &Host<'_>) -> Result<Fleet, Error> {
    let all = program.common();
    let options = &all.fleet;
    let default = Config::default();
    let size = |option: &Opt<OsString>, text: &Option<OsString>| {
        text.as_deref().map(|text| load::bytes(option.name(), text)).transpose()
    };
    let write_buffer = write_buffer(&ranks::WRITE_BUFFER, options.write_buffer.as_deref())?;
    let write_buffer = write_buffer.unwrap_or(default.write_buffer);
    let result_memory = size(&ranks::RESULT_MEMORY, &options.result_memory)?;
    let config = Config { write_buffer, ..default };
    let most = config.least_result_memory().max(config.result_memory);
    let config = Config {
        strategy: options.output,
        schedule: options.schedule,
        longest_first: longest_first(options)?,
        result_memory: result_memory.unwrap_or(most),
        ..config
    };
    config.validate().map_err(Error::query_options)?;
    let FleetOptions { ranks, plan: dry_run, groups, replicas, .. } = *options;
    let partitions = all.resources.partitions.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let wishes = Wishes {
        groups,
        replicas,
        partitions,
        dedicated: None,
        result_memory,
        block_residues: options.block_residues,
        segment_residues: options.segment_size,
    };
    let checkpoint = options.checkpoint.as_ref().map(|directory| Checkpoint {
        directory: PathBuf::from(directory),
        resume: options.resume,
    });
    let records = options.output == Strategy::Records;
    if options.compression.is_some() && !records {
        return Err(Error::query_options("-compression goes with -output records only"));
    }
    if let (true, Some(checkpoint)) = (records, &checkpoint) {
        refuse_other_checkpoint(checkpoint, &all.files.out)?;
    }
    let codec = options.compression.unwrap_or_default();
    // Keeping and laying out is the matter of ranks, so there is one at least.
    let ranks = ranks.or((checkpoint.is_some() || records || dry_run).then_some(1));
    let trace = options.trace.as_ref().map(PathBuf::from);
    let mut decisive = decisive(all, has_old_finite_size(host));
    decisive.extend(given(program.decisive()));
    let mut common = common(all);
    if let Some(metadata) = program.metadata().filter(|it| it.asked_for().is_some()) {
        let kinds = metadata.encodings.unwrap_or(metadata::DEFAULT);
        decisive.extend(given([told(&METADATA, word(&METADATA, &kinds))]));
        let to = metadata.send.as_ref().map(|link| lossy(&link.address));
        common.extend(given([told(&METADATA_OUT, text(&metadata.out)), told(&SEND, to)]));
    }
    let list = list(&all.database.lists);
    Ok(Fleet { ranks, dry_run, wishes, config, checkpoint, codec, trace, decisive, common, list })
}

/// How much before their turn long blocks are handed out.
fn longest_first(options: &FleetOptions) -> Result<f64, Error> {
    match (options.query_order, options.schedule) {
        (order @ None, _) | (order, Schedule::Dynamic) => Ok(QueryOrder::longest_first(order)),
        (Some(_), Schedule::Length | Schedule::Weight) => Err(Error::query_options(
            "-query_order goes with -schedule dynamic only: the others share queries out in the order of the input",
        )),
    }
}

/// Records are kept where they stay.
pub fn refuse_other_checkpoint(checkpoint: &Checkpoint, out: &OsStr) -> Result<(), Error> {
    match (absolute(&checkpoint.directory), absolute(out)) {
        (Ok(directory), Ok(out)) if directory == out => Ok(()),
        _ => Err(Error::query_options(
            "with -output records what is finished is kept where it stays: -checkpoint and -out must name the same directory",
        )),
    }
}

/// The options on which the report depends, but for those of the program. All are named here, so that a new one cannot be forgotten.
fn decisive(options: &CommonOptions, old_finite_size: bool) -> BTreeMap<String, String> {
    let CommonOptions {
        database,
        search,
        hsps,
        window_size,
        queries: QueryOptions { lcase_masking, query_loc, parse_deflines },
        formatting,
        threads: ThreadOptions { num_threads: _, mt_mode },
        ungapped,
        // In `common`: told by what they hold, or without effect on the report.
        files: _,
        resources: _,
        fleet: _,
        // Refused.
        unsupported: _,
    } = options;
    let mut all = vec![
        told(&query::QUERY_LOC, text(query_loc)),
        told(&query::LCASE_MASKING, flag(*lcase_masking)),
        told(&single::WINDOW_SIZE, number(window_size)),
        told(&single::UNGAPPED, flag(*ungapped)),
        told(&query::PARSE_DEFLINES, flag(*parse_deflines)),
        told(&threads::MT_MODE, Some(mt_mode.to_string())),
        ("OLD_FSC (in the environment)".to_owned(), flag(old_finite_size)),
    ];
    all.extend(of_database(database));
    all.extend(of_search(search));
    all.extend(of_hsps(hsps));
    all.extend(of_formatting(formatting));
    given(all)
}

/// An option by its name, with the dash, and its value if it has one.
pub type Told = (String, Option<String>);

fn of_database(options: &DatabaseOptions) -> [Told; 6] {
    let DatabaseOptions {
        dbsize,
        lists,
        db_soft_mask,
        db_hard_mask,
        subject_loc,
        // Told by what they hold, and in `common`.
        db: _,
        subject: _,
    } = options;
    [
        told(&database::DBSIZE, number(dbsize)),
        told(&database::TAXIDS, text(&lists.taxids)),
        told(&database::NEGATIVE_TAXIDS, text(&lists.negative_taxids)),
        told(&database::DB_SOFT_MASK, text(db_soft_mask)),
        told(&database::DB_HARD_MASK, text(db_hard_mask)),
        told(&database::SUBJECT_LOC, text(subject_loc)),
    ]
}

fn of_search(options: &SearchOptions) -> [Told; 10] {
    let SearchOptions {
        evalue,
        word_size,
        gap_open,
        gap_extend,
        qcov_hsp_perc,
        max_hsps,
        xdrop_ungap,
        xdrop_gap,
        xdrop_gap_final,
        searchsp,
    } = options;
    [
        told(&generic::EVALUE, Some(evalue.to_string())),
        told(&generic::WORD_SIZE, number(word_size)),
        told(&generic::GAPOPEN, number(gap_open)),
        told(&generic::GAPEXTEND, number(gap_extend)),
        told(&generic::QCOV_HSP_PERC, number(qcov_hsp_perc)),
        told(&generic::MAX_HSPS, number(max_hsps)),
        told(&generic::XDROP_UNGAP, number(xdrop_ungap)),
        told(&generic::XDROP_GAP, number(xdrop_gap)),
        told(&generic::XDROP_GAP_FINAL, number(xdrop_gap_final)),
        told(&generic::SEARCHSP, number(searchsp)),
    ]
}

fn of_hsps(options: &HspFilteringOptions) -> [Told; 4] {
    let HspFilteringOptions {
        culling_limit,
        best_hit_overhang,
        best_hit_score_edge,
        subject_besthit,
    } = options;
    [
        told(&hsps::CULLING_LIMIT, number(culling_limit)),
        told(&hsps::BEST_HIT_OVERHANG, number(best_hit_overhang)),
        told(&hsps::BEST_HIT_SCORE_EDGE, number(best_hit_score_edge)),
        told(&hsps::SUBJECT_BESTHIT, flag(*subject_besthit)),
    ]
}

fn of_formatting(options: &FormattingOptions) -> [Told; 9] {
    let FormattingOptions {
        outfmt,
        show_gis,
        num_descriptions,
        num_alignments,
        line_length,
        html,
        sort_hits,
        sort_hsps,
        max_target_seqs,
    } = options;
    [
        told(&formatting::OUTFMT, Some(lossy(outfmt))),
        told(&formatting::SHOW_GIS, flag(*show_gis)),
        told(&formatting::NUM_DESCRIPTIONS, number(num_descriptions)),
        told(&formatting::NUM_ALIGNMENTS, number(num_alignments)),
        told(&formatting::LINE_LENGTH, number(line_length)),
        told(&formatting::HTML, flag(*html)),
        told(&formatting::SORTHITS, number(sort_hits)),
        told(&formatting::SORTHSPS, number(sort_hsps)),
        told(&formatting::MAX_TARGET_SEQS, number(max_target_seqs)),
    ]
}

/// What ranks do together, which they cannot if some were told otherwise. Threads and progress are the matter of each.
fn common(all: &CommonOptions) -> BTreeMap<String, String> {
    let FileOptions { query, out } = &all.files;
    let ResourceOptions { timing, partitions, loader, memory, progress: _ } = &all.resources;
    let FleetOptions {
        ranks: _,
        plan,
        groups,
        replicas,
        output,
        compression,
        schedule,
        query_order,
        segment_size,
        block_residues,
        write_buffer,
        result_memory,
        checkpoint,
        resume,
        trace,
    } = &all.fleet;
    let query_order = query_order.and_then(|order| word(&ranks::QUERY_ORDER, &order));
    given([
        told(&files::QUERY, Some(lossy(query))),
        told(&database::DB, text(&all.database.db)),
        told(&database::SUBJECT, text(&all.database.subject)),
        told(&files::OUT, Some(lossy(out))),
        told(&resources::TIMING, text(timing)),
        told(&resources::PARTITIONS, number(partitions)),
        told(&resources::LOADER, word(&resources::LOADER, loader)),
        told(&resources::MEMORY, text(memory)),
        told(&ranks::PLAN, flag(*plan)),
        told(&ranks::GROUPS, number(groups)),
        told(&ranks::REPLICAS, number(replicas)),
        told(&ranks::OUTPUT, word(&ranks::OUTPUT, output)),
        told(&ranks::COMPRESSION, compression.and_then(|codec| word(&ranks::COMPRESSION, &codec))),
        told(&ranks::SCHEDULE, word(&ranks::SCHEDULE, schedule)),
        told(&ranks::QUERY_ORDER, query_order),
        told(&ranks::SEGMENT_SIZE, number(segment_size)),
        told(&ranks::BLOCK_RESIDUES, number(block_residues)),
        told(&ranks::WRITE_BUFFER, text(write_buffer)),
        told(&ranks::RESULT_MEMORY, text(result_memory)),
        told(&ranks::CHECKPOINT, text(checkpoint)),
        told(&ranks::RESUME, flag(*resume)),
        told(&ranks::TRACE, text(trace)),
    ])
}

/// The list whose contents decide what is searched, if one is given.
fn list(lists: &Lists) -> Option<String> {
    let Lists {
        gis,
        negative_gis,
        seqids,
        negative_seqids,
        taxid_file,
        negative_taxid_file,
        // The taxids themselves.
        taxids: _,
        negative_taxids: _,
    } = lists;
    let all = [
        (&database::GILIST, gis),
        (&database::NEGATIVE_GILIST, negative_gis),
        (&database::SEQIDLIST, seqids),
        (&database::NEGATIVE_SEQIDLIST, negative_seqids),
        (&database::TAXIDLIST, taxid_file),
        (&database::NEGATIVE_TAXIDLIST, negative_taxid_file),
    ];
    all.into_iter().find_map(|(option, path)| path.as_ref().map(|_| dashed(option)))
}

/// A [`Told`].
pub fn told<T>(option: &Opt<T>, value: Option<String>) -> Told {
    (dashed(option), value)
}

fn dashed<T>(option: &Opt<T>) -> String {
    format!("-{}", option.name())
}

/// Those that have a value.
fn given(all: impl IntoIterator<Item = Told>) -> BTreeMap<String, String> {
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The value of a text.
pub fn text(text: &Option<OsString>) -> Option<String> {
    text.as_deref().map(lossy)
}

/// The value of one of some words.
pub fn word<T: PartialEq>(option: &Opt<T>, value: &T) -> Option<String> {
    option.spelled(value).map(str::to_owned)
}

/// The value of a number.
pub fn number<T: ToString>(number: &Option<T>) -> Option<String> {
    number.as_ref().map(T::to_string)
}

/// The value of what is true or false.
pub fn flag(given: bool) -> Option<String> {
    given.then(|| "given".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_write_buffer_counts_as_the_smallest() {
        let size = |text: &str| write_buffer(&ranks::WRITE_BUFFER, Some(OsStr::new(text)));
        assert_eq!(size("1").unwrap(), Some(LEAST_WRITE_BUFFER));
        assert_eq!(size("100").unwrap(), Some(100));
        assert!(size("0").is_err());
        assert_eq!(write_buffer(&ranks::WRITE_BUFFER, None).unwrap(), None);
    }
}

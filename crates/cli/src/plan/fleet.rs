//! The plan of a search by many ranks, and the options that all ranks and checkpoints must agree
//! on.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{PathBuf, absolute};

use fleetblast_fleet::config::{Config, MIN_WRITE_BUFFER, QueryOrder, Schedule, Strategy};
use fleetblast_fleet::plan::UserSettings;
use fleetblast_job::error::Error;
use fleetblast_job::plan::{Checkpoint, Fleet};
use fleetblast_stats::release::Release;

use super::{ProcessEnvironment, SearchProgram, has_old_finite_size};
use crate::options::compat::COMPAT;
use crate::options::load;
use crate::options::opt::Opt;
use crate::options::search::common::CommonOptions;
use crate::options::search::database::{self, DatabaseOptions, SequenceLists};
use crate::options::search::files::{self, FileOptions};
use crate::options::search::fleet::{self as ranks, FleetOptions};
use crate::options::search::formatting::{self, FormattingOptions};
use crate::options::search::generic::{self, SearchOptions};
use crate::options::search::hsps::{self, HspFilteringOptions};
use crate::options::search::metadata::{self, METADATA, METADATA_OUT, SEND};
use crate::options::search::outfmt::OUTFMT;
use crate::options::search::query::{self, QueryOptions};
use crate::options::search::resources::{self, ResourceOptions};
use crate::options::search::single;
use crate::options::search::threads::{self, ThreadOptions};
use crate::options::typed::to_text;

/// Sizes of the memory that the ranks of a job take, in bytes, as the user gave them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySizes {
    /// Size of the write buffer. A size too small to be useful is the smallest useful one.
    write_buffer: Option<u64>,
    /// Size of the memory for results.
    result_memory: Option<u64>,
}

impl MemorySizes {
    /// Parses the values of `-write_buffer` and `-result_memory`.
    ///
    /// # Errors
    /// A malformed size.
    pub fn parse(
        write_buffer: Option<&OsStr>,
        result_memory: Option<&OsStr>,
    ) -> Result<Self, Error> {
        let size = |option: &Opt<OsString>, text: Option<&OsStr>| {
            text.map(|text| load::bytes(option.name(), text)).transpose()
        };
        let write_buffer = size(&ranks::WRITE_BUFFER, write_buffer)?;
        Ok(Self {
            write_buffer: write_buffer.map(|size| size.max(MIN_WRITE_BUFFER)),
            result_memory: size(&ranks::RESULT_MEMORY, result_memory)?,
        })
    }

    /// Puts the sizes into a configuration, and validates it. By default, the memory for results
    /// suffices for the write buffers.
    ///
    /// # Errors
    /// A configuration that contradicts itself.
    pub fn complete(self, config: Config) -> Result<Config, Error> {
        let write_buffer = self.write_buffer.unwrap_or(config.write_buffer);
        let config = Config { write_buffer, ..config };
        let most = config.least_result_memory().max(config.result_memory);
        let config = Config { result_memory: self.result_memory.unwrap_or(most), ..config };
        config.validate().map_err(Error::query_options)?;
        Ok(config)
    }
}

/// Plans the ranks from the options.
pub fn plan(
    program: &dyn SearchProgram,
    environment: &ProcessEnvironment<'_>,
) -> Result<Fleet, Error> {
    let all = program.common();
    let options = &all.fleet;
    let sizes =
        MemorySizes::parse(options.write_buffer.as_deref(), options.result_memory.as_deref())?;
    let config = sizes.complete(Config {
        strategy: options.output,
        schedule: options.schedule,
        longest_first: longest_first(options)?,
        ..Config::default()
    })?;
    let FleetOptions { ranks, plan: dry_run, groups, replicas, .. } = *options;
    let partitions = all.resources.partitions.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let user_settings = UserSettings {
        groups,
        replicas,
        partitions,
        dedicated: None,
        result_memory: sizes.result_memory,
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
    // Checkpoints, records and plans are features of ranks, so there is at least one.
    let ranks = ranks.or((checkpoint.is_some() || records || dry_run).then_some(1));
    let trace = options.trace.as_ref().map(PathBuf::from);
    let mut report_options = collect_report_options(all, has_old_finite_size(environment));
    report_options.extend(options_with_values(program.report_options()));
    let mut equal_options = collect_equal_options(all);
    if let Some(metadata) =
        program.metadata().filter(|it| it.metadata_destination_option().is_some())
    {
        let kinds = metadata.encodings.unwrap_or(metadata::DEFAULT);
        report_options
            .extend(options_with_values([option_text(&METADATA, word_value(&METADATA, &kinds))]));
        let to = metadata.send.as_ref().map(|link| to_text(&link.address));
        equal_options.extend(options_with_values([
            option_text(&METADATA_OUT, text_value(&metadata.out)),
            option_text(&SEND, to),
        ]));
    }
    let sequence_list_option = find_sequence_list_option(&all.database.lists, all.release);
    Ok(Fleet {
        ranks,
        dry_run,
        user_settings,
        config,
        checkpoint,
        codec,
        trace,
        report_options,
        equal_options,
        sequence_list_option,
    })
}

/// Returns how early long blocks are handed out (`Config::longest_first`); 0 for never.
fn longest_first(options: &FleetOptions) -> Result<f64, Error> {
    match (options.query_order, options.schedule) {
        (order @ None, _) | (order, Schedule::Dynamic) => Ok(QueryOrder::longest_first(order)),
        (Some(_), Schedule::Length | Schedule::Weight) => Err(Error::query_options(
            "-query_order goes with -schedule dynamic only: other schedules assign queries in the order of the input",
        )),
    }
}

/// Refuses a checkpoint in another directory than the report. With `-output records`, the directory
/// of the records is the checkpoint.
pub fn refuse_other_checkpoint(checkpoint: &Checkpoint, out: &OsStr) -> Result<(), Error> {
    match (absolute(&checkpoint.directory), absolute(out)) {
        (Ok(directory), Ok(out)) if directory == out => Ok(()),
        _ => Err(Error::query_options(
            "with -output records the checkpoint is the directory of the report: -checkpoint and -out must name the same directory",
        )),
    }
}

/// Returns the options on which the report depends, without those of the program. The patterns name
/// all fields, so that the compiler reports a forgotten option.
fn collect_report_options(
    options: &CommonOptions,
    old_finite_size: bool,
) -> BTreeMap<String, String> {
    let CommonOptions {
        release,
        database,
        search,
        hsps,
        window_size,
        queries: QueryOptions { lcase_masking, query_loc, parse_deflines },
        formatting,
        threads: ThreadOptions { num_threads: _, mt_mode },
        ungapped,
        // Compared by their contents and in `equal_options`, or without effect on the report.
        files: _,
        resources: _,
        fleet: _,
        // Planning has already refused these.
        unsupported: _,
        // Ranks and checkpoints do not support it.
        export_search_strategy: _,
    } = options;
    let mut all = vec![
        option_text(&COMPAT, Some(release.version.to_owned())),
        option_text(&query::QUERY_LOC, text_value(query_loc)),
        option_text(&query::LCASE_MASKING, flag_value(*lcase_masking)),
        option_text(&single::WINDOW_SIZE, number_value(window_size)),
        option_text(&single::UNGAPPED, flag_value(*ungapped)),
        option_text(&query::PARSE_DEFLINES, flag_value(*parse_deflines)),
        option_text(&threads::MT_MODE, Some(mt_mode.to_string())),
        ("OLD_FSC (in the environment)".to_owned(), flag_value(old_finite_size)),
    ];
    all.extend(of_database(database));
    all.extend(of_search(search));
    all.extend(of_hsps(hsps));
    all.extend(of_formatting(formatting));
    options_with_values(all)
}

/// The name of an option with its dash, and its value as text if it has one.
pub type OptionText = (String, Option<String>);

fn of_database(options: &DatabaseOptions) -> [OptionText; 7] {
    let DatabaseOptions {
        dbsize,
        lists,
        db_soft_mask,
        db_hard_mask,
        subject_loc,
        // Compared by their contents and in `equal_options`.
        db: _,
        subject: _,
    } = options;
    [
        option_text(&database::DBSIZE, number_value(dbsize)),
        option_text(&database::TAXIDS, text_value(&lists.taxids)),
        option_text(&database::NEGATIVE_TAXIDS, text_value(&lists.negative_taxids)),
        option_text(&database::NO_TAXID_EXPANSION, flag_value(lists.no_taxid_expansion)),
        option_text(&database::DB_SOFT_MASK, text_value(db_soft_mask)),
        option_text(&database::DB_HARD_MASK, text_value(db_hard_mask)),
        option_text(&database::SUBJECT_LOC, text_value(subject_loc)),
    ]
}

fn of_search(options: &SearchOptions) -> [OptionText; 10] {
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
        option_text(&generic::EVALUE, number_value(evalue)),
        option_text(&generic::WORD_SIZE, number_value(word_size)),
        option_text(&generic::GAPOPEN, number_value(gap_open)),
        option_text(&generic::GAPEXTEND, number_value(gap_extend)),
        option_text(&generic::QCOV_HSP_PERC, number_value(qcov_hsp_perc)),
        option_text(&generic::MAX_HSPS, number_value(max_hsps)),
        option_text(&generic::XDROP_UNGAP, number_value(xdrop_ungap)),
        option_text(&generic::XDROP_GAP, number_value(xdrop_gap)),
        option_text(&generic::XDROP_GAP_FINAL, number_value(xdrop_gap_final)),
        option_text(&generic::SEARCHSP, number_value(searchsp)),
    ]
}

fn of_hsps(options: &HspFilteringOptions) -> [OptionText; 4] {
    let HspFilteringOptions {
        culling_limit,
        best_hit_overhang,
        best_hit_score_edge,
        subject_besthit,
    } = options;
    [
        option_text(&hsps::CULLING_LIMIT, number_value(culling_limit)),
        option_text(&hsps::BEST_HIT_OVERHANG, number_value(best_hit_overhang)),
        option_text(&hsps::BEST_HIT_SCORE_EDGE, number_value(best_hit_score_edge)),
        option_text(&hsps::SUBJECT_BESTHIT, flag_value(*subject_besthit)),
    ]
}

fn of_formatting(options: &FormattingOptions) -> [OptionText; 9] {
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
        option_text(&OUTFMT, Some(to_text(outfmt))),
        option_text(&formatting::SHOW_GIS, flag_value(*show_gis)),
        option_text(&formatting::NUM_DESCRIPTIONS, number_value(num_descriptions)),
        option_text(&formatting::NUM_ALIGNMENTS, number_value(num_alignments)),
        option_text(&formatting::LINE_LENGTH, number_value(line_length)),
        option_text(&formatting::HTML, flag_value(*html)),
        option_text(&formatting::SORTHITS, number_value(sort_hits)),
        option_text(&formatting::SORTHSPS, number_value(sort_hsps)),
        option_text(&formatting::MAX_TARGET_SEQS, number_value(max_target_seqs)),
    ]
}

/// Returns the options that must be equal on all ranks. The number of threads and the display of
/// progress may differ.
fn collect_equal_options(all: &CommonOptions) -> BTreeMap<String, String> {
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
    let query_order = query_order.and_then(|order| word_value(&ranks::QUERY_ORDER, &order));
    options_with_values([
        option_text(&files::QUERY, Some(to_text(query))),
        option_text(&database::DB, text_value(&all.database.db)),
        option_text(&database::SUBJECT, text_value(&all.database.subject)),
        option_text(&files::OUT, Some(to_text(out))),
        option_text(&resources::TIMING, text_value(timing)),
        option_text(&resources::PARTITIONS, number_value(partitions)),
        option_text(&resources::LOADER, word_value(&resources::LOADER, loader)),
        option_text(&resources::MEMORY, text_value(memory)),
        option_text(&ranks::PLAN, flag_value(*plan)),
        option_text(&ranks::GROUPS, number_value(groups)),
        option_text(&ranks::REPLICAS, number_value(replicas)),
        option_text(&ranks::OUTPUT, word_value(&ranks::OUTPUT, output)),
        option_text(
            &ranks::COMPRESSION,
            compression.and_then(|codec| word_value(&ranks::COMPRESSION, &codec)),
        ),
        option_text(&ranks::SCHEDULE, word_value(&ranks::SCHEDULE, schedule)),
        option_text(&ranks::QUERY_ORDER, query_order),
        option_text(&ranks::SEGMENT_SIZE, number_value(segment_size)),
        option_text(&ranks::BLOCK_RESIDUES, number_value(block_residues)),
        option_text(&ranks::WRITE_BUFFER, text_value(write_buffer)),
        option_text(&ranks::RESULT_MEMORY, text_value(result_memory)),
        option_text(&ranks::CHECKPOINT, text_value(checkpoint)),
        option_text(&ranks::RESUME, flag_value(*resume)),
        option_text(&ranks::TRACE, text_value(trace)),
    ])
}

/// Returns the option that restricts the search by a list in a file, or by taxids whose descendants
/// come from the taxonomy file; `None` if no such option is given.
fn find_sequence_list_option(lists: &SequenceLists, release: &Release) -> Option<String> {
    let SequenceLists {
        gis,
        negative_gis,
        seqids,
        negative_seqids,
        taxid_file,
        negative_taxid_file,
        taxids,
        negative_taxids,
        no_taxid_expansion,
    } = lists;
    let all = [
        (&database::GILIST, gis),
        (&database::NEGATIVE_GILIST, negative_gis),
        (&database::SEQIDLIST, seqids),
        (&database::NEGATIVE_SEQIDLIST, negative_seqids),
        (&database::TAXIDLIST, taxid_file),
        (&database::NEGATIVE_TAXIDLIST, negative_taxid_file),
    ];
    let file = all.into_iter().find_map(|(option, path)| path.as_ref().map(|_| dashed(option)));
    // These have taxids as values, not files, but the taxonomy is a file.
    let values = [(&database::TAXIDS, taxids), (&database::NEGATIVE_TAXIDS, negative_taxids)];
    let values = values.into_iter().filter(|_| release.expands_taxa && !no_taxid_expansion);
    let mut values = values.filter(|(_, taxids)| taxids.is_some());
    file.or_else(|| Some(format!("{} (with descendants)", dashed(values.next()?.0))))
}

/// Pairs an option with the text of its value.
pub fn option_text<T>(option: &Opt<T>, value: Option<String>) -> OptionText {
    (dashed(option), value)
}

fn dashed<T>(option: &Opt<T>) -> String {
    format!("-{}", option.name())
}

/// Returns the options that have a value.
fn options_with_values(all: impl IntoIterator<Item = OptionText>) -> BTreeMap<String, String> {
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Converts the text of an option's value.
pub fn text_value(text: &Option<OsString>) -> Option<String> {
    text.as_deref().map(to_text)
}

/// Returns the word for an option's value.
pub fn word_value<T: PartialEq>(option: &Opt<T>, value: &T) -> Option<String> {
    option.word_for_value(value).map(str::to_owned)
}

/// Formats the number that is an option's value.
pub fn number_value<T: ToString>(number: &Option<T>) -> Option<String> {
    number.as_ref().map(T::to_string)
}

/// Returns a text for a flag that is given; `None` otherwise.
pub fn flag_value(given: bool) -> Option<String> {
    given.then(|| "given".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_write_buffer_counts_as_the_smallest() {
        let size = |text: &str| {
            MemorySizes::parse(Some(OsStr::new(text)), None).map(|sizes| sizes.write_buffer)
        };
        assert_eq!(size("1").unwrap(), Some(MIN_WRITE_BUFFER));
        assert_eq!(size("100").unwrap(), Some(100));
        assert!(size("0").is_err());
        assert_eq!(MemorySizes::parse(None, None).unwrap().write_buffer, None);
    }
}

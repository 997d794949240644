//! A search by many ranks.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use fleetblast_fleet::config::{Config, Schedule, Strategy};
use fleetblast_fleet::plan::Wishes;
use fleetblast_job::error::Error;
use fleetblast_job::plan::{Checkpoint, Fleet};

use super::load;
use crate::options::typed::{BlastpOptions, FleetOptions, Lists, lossy};

/// What the options say; `old_finite_size` is what the environment says of that.
pub fn plan(all: &BlastpOptions, old_finite_size: bool) -> Result<Fleet, Error> {
    let options = &all.fleet;
    let default = Config::default();
    let size = |name: &str, text: &Option<OsString>| {
        text.as_deref().map(|text| load::bytes(name, text)).transpose()
    };
    let write_buffer = size("write_buffer", &options.write_buffer)?.unwrap_or(default.write_buffer);
    let result_memory = size("result_memory", &options.result_memory)?;
    let config = Config { write_buffer, ..default };
    let most = config.least_result_memory().max(config.result_memory);
    let config = Config {
        strategy: match options.output.to_str() {
            Some("individual") => Strategy::Individual,
            Some("collective") => Strategy::Collective,
            _ => Strategy::Merge,
        },
        schedule: match options.schedule.to_str() {
            Some("length") => Schedule::Length,
            Some("weight") => Schedule::Weight,
            _ => Schedule::Dynamic,
        },
        result_memory: result_memory.unwrap_or(most),
        ..config
    };
    config.validate().map_err(Error::query_options)?;
    let FleetOptions { ranks, plan: dry_run, groups, replicas, .. } = *options;
    let partitions = all.partitions.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let wishes = Wishes {
        groups,
        replicas,
        partitions,
        dedicated: None,
        result_memory,
        block_residues: options.block_residues.map(i64::unsigned_abs),
        segment_residues: options.segment_size.map(i64::unsigned_abs),
    };
    let checkpoint = options.checkpoint.as_ref().map(|directory| Checkpoint {
        directory: PathBuf::from(directory),
        resume: options.resume,
    });
    // Keeping and laying out is the matter of ranks, so there is one at least.
    let ranks = ranks.or((checkpoint.is_some() || dry_run).then_some(1));
    let trace = options.trace.as_ref().map(PathBuf::from);
    let decisive = decisive(all, old_finite_size);
    let (common, list) = (common(all), list(&all.lists));
    Ok(Fleet { ranks, dry_run, wishes, config, checkpoint, trace, decisive, common, list })
}

/// The options on which the report depends. All are named here, so that a new one cannot be forgotten.
fn decisive(options: &BlastpOptions, old_finite_size: bool) -> BTreeMap<String, String> {
    let BlastpOptions {
        query_loc,
        task,
        db_soft_mask,
        db_hard_mask,
        subject_loc,
        evalue,
        word_size,
        gap_open,
        gap_extend,
        matrix,
        threshold,
        comp_based_stats,
        outfmt,
        show_gis,
        num_descriptions,
        num_alignments,
        line_length,
        html,
        sort_hits,
        sort_hsps,
        seg,
        soft_masking,
        lcase_masking,
        qcov_hsp_perc,
        max_hsps,
        culling_limit,
        best_hit_overhang,
        best_hit_score_edge,
        subject_besthit,
        max_target_seqs,
        dbsize,
        searchsp,
        xdrop_ungap,
        xdrop_gap,
        xdrop_gap_final,
        window_size,
        ungapped,
        parse_deflines,
        mt_mode,
        use_sw_tback,
        lists,
        // Told by what they hold, and in `common`.
        query: _,
        db: _,
        subject: _,
        // Without effect on the report: in `common`, or such that ranks may differ in it.
        out: _,
        num_threads: _,
        timing: _,
        partitions: _,
        fleet: _,
        loader: _,
        memory: _,
        progress: _,
        // Refused.
        unsupported: _,
    } = options;
    let text = |text: &Option<OsString>| text.as_deref().map(lossy);
    let all = [
        ("-query_loc", text(query_loc)),
        ("-task", Some(format!("{task:?}"))),
        ("-db_soft_mask", text(db_soft_mask)),
        ("-db_hard_mask", text(db_hard_mask)),
        ("-subject_loc", text(subject_loc)),
        ("-evalue", Some(evalue.to_string())),
        ("-word_size", number(word_size)),
        ("-gapopen", number(gap_open)),
        ("-gapextend", number(gap_extend)),
        ("-matrix", text(matrix)),
        ("-threshold", number(threshold)),
        ("-comp_based_stats", Some(lossy(comp_based_stats))),
        ("-outfmt", Some(lossy(outfmt))),
        ("-show_gis", flag(*show_gis)),
        ("-num_descriptions", number(num_descriptions)),
        ("-num_alignments", number(num_alignments)),
        ("-line_length", number(line_length)),
        ("-html", flag(*html)),
        ("-sorthits", number(sort_hits)),
        ("-sorthsps", number(sort_hsps)),
        ("-seg", Some(lossy(seg))),
        ("-soft_masking", flag(*soft_masking)),
        ("-lcase_masking", flag(*lcase_masking)),
        ("-qcov_hsp_perc", number(qcov_hsp_perc)),
        ("-max_hsps", number(max_hsps)),
        ("-culling_limit", number(culling_limit)),
        ("-best_hit_overhang", number(best_hit_overhang)),
        ("-best_hit_score_edge", number(best_hit_score_edge)),
        ("-subject_besthit", flag(*subject_besthit)),
        ("-max_target_seqs", number(max_target_seqs)),
        ("-dbsize", number(dbsize)),
        ("-searchsp", number(searchsp)),
        ("-xdrop_ungap", number(xdrop_ungap)),
        ("-xdrop_gap", number(xdrop_gap)),
        ("-xdrop_gap_final", number(xdrop_gap_final)),
        ("-window_size", number(window_size)),
        ("-ungapped", flag(*ungapped)),
        ("-parse_deflines", flag(*parse_deflines)),
        ("-mt_mode", Some(mt_mode.to_string())),
        ("-use_sw_tback", flag(*use_sw_tback)),
        ("-taxids", text(&lists.taxids)),
        ("-negative_taxids", text(&lists.negative_taxids)),
        ("OLD_FSC (in the environment)", flag(old_finite_size)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// What ranks do together, which they cannot if some were told otherwise. Threads and progress are the matter of each.
fn common(all: &BlastpOptions) -> BTreeMap<String, String> {
    let FleetOptions {
        ranks: _,
        plan,
        groups,
        replicas,
        output,
        schedule,
        segment_size,
        block_residues,
        write_buffer,
        result_memory,
        checkpoint,
        resume,
        trace,
    } = &all.fleet;
    let text = |text: &Option<OsString>| text.as_deref().map(lossy);
    let all = [
        ("-query", Some(lossy(&all.query))),
        ("-db", text(&all.db)),
        ("-subject", text(&all.subject)),
        ("-out", Some(lossy(&all.out))),
        ("-timing", text(&all.timing)),
        ("-partitions", number(&all.partitions)),
        ("-loader", Some(lossy(&all.loader))),
        ("-memory", text(&all.memory)),
        ("-plan", flag(*plan)),
        ("-groups", number(groups)),
        ("-replicas", number(replicas)),
        ("-output", Some(lossy(output))),
        ("-schedule", Some(lossy(schedule))),
        ("-segment_size", number(segment_size)),
        ("-block_residues", number(block_residues)),
        ("-write_buffer", text(write_buffer)),
        ("-result_memory", text(result_memory)),
        ("-checkpoint", text(checkpoint)),
        ("-resume", flag(*resume)),
        ("-trace", text(trace)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The list whose contents decide what is searched, if one is given.
fn list(lists: &Lists) -> Option<&'static str> {
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
        ("-gilist", gis),
        ("-negative_gilist", negative_gis),
        ("-seqidlist", seqids),
        ("-negative_seqidlist", negative_seqids),
        ("-taxidlist", taxid_file),
        ("-negative_taxidlist", negative_taxid_file),
    ];
    all.into_iter().find_map(|(name, path)| path.as_ref().map(|_| name))
}

fn number<T: ToString>(number: &Option<T>) -> Option<String> {
    number.as_ref().map(T::to_string)
}

fn flag(given: bool) -> Option<String> {
    given.then(|| "given".to_owned())
}

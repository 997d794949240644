//! The options of `blastp` as they were typed, each with its own type, defaults of the table filled in.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use super::blastp::BLASTP;
use super::parse::Given;
use super::values::Values;

/// Preset of defaults (`-task`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Words of three letters.
    Blastp,
    /// Words of six letters in a compressed alphabet.
    Fast,
    /// For queries of fewer than about 30 residues.
    Short,
}

/// Lists that restrict what is searched; at most one is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// `-gilist`, a file.
    pub gis: Option<OsString>,
    /// `-negative_gilist`.
    pub negative_gis: Option<OsString>,
    /// `-seqidlist`, a file.
    pub seqids: Option<OsString>,
    /// `-negative_seqidlist`.
    pub negative_seqids: Option<OsString>,
    /// `-taxids`, the taxids themselves.
    pub taxids: Option<OsString>,
    /// `-negative_taxids`.
    pub negative_taxids: Option<OsString>,
    /// `-taxidlist`, a file.
    pub taxid_file: Option<OsString>,
    /// `-negative_taxidlist`.
    pub negative_taxid_file: Option<OsString>,
}

/// What was typed. Options left out are `None`, or hold the default when BLAST+ always applies one.
#[derive(Clone, Debug, PartialEq)]
pub struct BlastpOptions {
    /// `-query`.
    pub query: OsString,
    /// `-query_loc`.
    pub query_loc: Option<OsString>,
    /// `-task`.
    pub task: Task,
    /// `-db`.
    pub db: Option<OsString>,
    /// `-seqidlist` and the like.
    pub lists: Lists,
    /// `-db_soft_mask`.
    pub db_soft_mask: Option<OsString>,
    /// `-db_hard_mask`.
    pub db_hard_mask: Option<OsString>,
    /// `-subject`.
    pub subject: Option<OsString>,
    /// `-subject_loc`.
    pub subject_loc: Option<OsString>,
    /// `-out`.
    pub out: OsString,
    /// `-evalue`.
    pub evalue: f64,
    /// `-word_size`.
    pub word_size: Option<i64>,
    /// `-gapopen`.
    pub gap_open: Option<i32>,
    /// `-gapextend`.
    pub gap_extend: Option<i32>,
    /// `-matrix`.
    pub matrix: Option<OsString>,
    /// `-threshold`.
    pub threshold: Option<f64>,
    /// `-comp_based_stats`.
    pub comp_based_stats: OsString,
    /// `-outfmt`.
    pub outfmt: OsString,
    /// `-show_gis`.
    pub show_gis: bool,
    /// `-num_descriptions`.
    pub num_descriptions: Option<usize>,
    /// `-num_alignments`.
    pub num_alignments: Option<usize>,
    /// `-line_length`.
    pub line_length: Option<usize>,
    /// `-html`.
    pub html: bool,
    /// `-sorthits`.
    pub sort_hits: Option<usize>,
    /// `-sorthsps`.
    pub sort_hsps: Option<usize>,
    /// `-seg`.
    pub seg: OsString,
    /// `-soft_masking`.
    pub soft_masking: bool,
    /// `-lcase_masking`.
    pub lcase_masking: bool,
    /// `-qcov_hsp_perc`.
    pub qcov_hsp_perc: Option<f64>,
    /// `-max_hsps`.
    pub max_hsps: Option<usize>,
    /// `-culling_limit`.
    pub culling_limit: Option<u32>,
    /// `-best_hit_overhang`.
    pub best_hit_overhang: Option<f64>,
    /// `-best_hit_score_edge`.
    pub best_hit_score_edge: Option<f64>,
    /// `-subject_besthit`.
    pub subject_besthit: bool,
    /// `-max_target_seqs`.
    pub max_target_seqs: Option<usize>,
    /// `-dbsize`.
    pub dbsize: Option<i64>,
    /// `-searchsp`.
    pub searchsp: Option<i64>,
    /// `-xdrop_ungap`.
    pub xdrop_ungap: Option<f64>,
    /// `-xdrop_gap`.
    pub xdrop_gap: Option<f64>,
    /// `-xdrop_gap_final`.
    pub xdrop_gap_final: Option<f64>,
    /// `-window_size`.
    pub window_size: Option<i32>,
    /// `-ungapped`.
    pub ungapped: bool,
    /// `-parse_deflines`.
    pub parse_deflines: bool,
    /// `-num_threads`.
    pub num_threads: Option<usize>,
    /// `-mt_mode`.
    pub mt_mode: i64,
    /// `-use_sw_tback`.
    pub use_sw_tback: bool,
    /// `-timing`.
    pub timing: Option<OsString>,
    /// `-partitions`.
    pub partitions: Option<usize>,
    /// Options for a search by many ranks.
    pub fleet: FleetOptions,
    /// `-loader`.
    pub loader: OsString,
    /// `-memory`.
    pub memory: Option<OsString>,
    /// `-progress`.
    pub progress: OsString,
    /// The first option given, in the order of the usage text, that FleetBLAST does not support.
    pub unsupported: Option<&'static str>,
}

impl BlastpOptions {
    /// Gives each option its type.
    pub fn new(given: &Given) -> Self {
        let read = Values::new(&BLASTP, given);
        let text = |name| read.text(name).unwrap_or_default();
        Self {
            query: text("query"),
            query_loc: read.text("query_loc"),
            task: match text("task").as_bytes() {
                b"blastp-fast" => Task::Fast,
                b"blastp-short" => Task::Short,
                _ => Task::Blastp,
            },
            db: read.text("db"),
            lists: Lists {
                gis: read.text("gilist"),
                negative_gis: read.text("negative_gilist"),
                seqids: read.text("seqidlist"),
                negative_seqids: read.text("negative_seqidlist"),
                taxids: read.text("taxids"),
                negative_taxids: read.text("negative_taxids"),
                taxid_file: read.text("taxidlist"),
                negative_taxid_file: read.text("negative_taxidlist"),
            },
            db_soft_mask: read.text("db_soft_mask"),
            db_hard_mask: read.text("db_hard_mask"),
            subject: read.text("subject"),
            subject_loc: read.text("subject_loc"),
            out: text("out"),
            evalue: read.real("evalue").unwrap_or(10.0),
            word_size: read.long("word_size"),
            gap_open: read.integer("gapopen"),
            gap_extend: read.integer("gapextend"),
            matrix: read.text("matrix"),
            threshold: read.real("threshold"),
            comp_based_stats: text("comp_based_stats"),
            outfmt: text("outfmt"),
            show_gis: read.flag("show_gis"),
            num_descriptions: read.integer("num_descriptions"),
            num_alignments: read.integer("num_alignments"),
            line_length: read.integer("line_length"),
            html: read.flag("html"),
            sort_hits: read.integer("sorthits"),
            sort_hsps: read.integer("sorthsps"),
            seg: text("seg"),
            soft_masking: read.boolean("soft_masking"),
            lcase_masking: read.flag("lcase_masking"),
            qcov_hsp_perc: read.real("qcov_hsp_perc"),
            max_hsps: read.integer("max_hsps"),
            culling_limit: read.integer("culling_limit"),
            best_hit_overhang: read.real("best_hit_overhang"),
            best_hit_score_edge: read.real("best_hit_score_edge"),
            subject_besthit: read.flag("subject_besthit"),
            max_target_seqs: read.integer("max_target_seqs"),
            dbsize: read.long("dbsize"),
            searchsp: read.long("searchsp"),
            xdrop_ungap: read.real("xdrop_ungap"),
            xdrop_gap: read.real("xdrop_gap"),
            xdrop_gap_final: read.real("xdrop_gap_final"),
            window_size: read.integer("window_size"),
            ungapped: read.flag("ungapped"),
            parse_deflines: read.flag("parse_deflines"),
            num_threads: read.integer("num_threads"),
            mt_mode: read.long("mt_mode").unwrap_or(0),
            use_sw_tback: read.flag("use_sw_tback"),
            timing: read.text("timing"),
            partitions: read.integer("partitions"),
            fleet: FleetOptions {
                ranks: read.integer("ranks"),
                plan: read.flag("plan"),
                groups: read.integer("groups"),
                replicas: read.integer("replicas"),
                output: text("output"),
                schedule: text("schedule"),
                block_residues: read.long("block_residues"),
                segment_size: read.long("segment_size"),
                write_buffer: read.text("write_buffer"),
                result_memory: read.text("result_memory"),
                checkpoint: read.text("checkpoint"),
                resume: read.flag("resume"),
                trace: read.text("trace"),
            },
            loader: text("loader"),
            memory: read.text("memory"),
            progress: text("progress"),
            unsupported: read.unsupported(),
        }
    }
}

/// Options for a search by many ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetOptions {
    /// `-ranks`.
    pub ranks: Option<u32>,
    /// `-plan`.
    pub plan: bool,
    /// `-groups`.
    pub groups: Option<u32>,
    /// `-replicas`.
    pub replicas: Option<u32>,
    /// `-output`.
    pub output: OsString,
    /// `-schedule`.
    pub schedule: OsString,
    /// `-block_residues`.
    pub block_residues: Option<i64>,
    /// `-segment_size`.
    pub segment_size: Option<i64>,
    /// `-write_buffer`.
    pub write_buffer: Option<OsString>,
    /// `-result_memory`.
    pub result_memory: Option<OsString>,
    /// `-checkpoint`.
    pub checkpoint: Option<OsString>,
    /// `-resume`.
    pub resume: bool,
    /// `-trace`.
    pub trace: Option<OsString>,
}

/// Text for messages and for parsing; bytes that are not UTF-8 are replaced.
pub fn lossy(text: &OsStr) -> String {
    text.to_string_lossy().into_owned()
}

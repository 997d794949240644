//! Black-box tests of the program, one file a subject. They are one test program, so that they are
//! linked once, and tests that wait run while others compute.

mod common;
#[path = "common/family.rs"]
mod family;
#[cfg(feature = "mpi")]
#[path = "common/launched.rs"]
mod launched;
#[path = "common/patience.rs"]
mod patience;
#[path = "common/proxy.rs"]
mod proxy;
#[path = "common/sandbox.rs"]
mod sandbox;
#[path = "../../../db/tests/black_box/common/mod.rs"]
mod volumes;

mod accepted;
mod alias_limits;
mod archives;
mod bad_database;
mod bad_output;
mod bad_query;
#[cfg(feature = "mpi")]
mod batch_script;
mod blastdb_aliastool;
mod blastdbcheck;
mod blastdbcmd;
mod blastn;
mod blastn_counts;
mod blastn_filters;
mod blastn_masks;
mod blastn_ranks;
mod blastn_repeats;
mod blastn_scores;
mod blastx;
mod blocks;
#[cfg(feature = "mpi")]
mod broadcast;
mod changing_database;
mod changing_inputs;
mod changing_queries;
mod compat;
mod configuration;
mod copied_databases;
mod crossed_lists;
mod damage;
mod dbcheck;
mod descendants;
mod early_signals;
mod failed_runs;
mod fleet_bad_query;
mod fleet_failure;
mod fleet_faults;
mod fleet_identity;
#[cfg(feature = "mpi")]
mod fleet_roles;
mod fleet_trace;
#[cfg(feature = "mpi")]
mod fleet_views;
mod forged_metadata;
mod formatter;
mod hidden_files;
mod hints;
mod identifiers;
mod io_ranks;
mod library;
mod link;
mod list_blanks;
mod listed_words;
mod little_memory;
mod lmdb_volumes;
mod loading;
mod logfile;
mod makeblastdb;
mod marks;
mod memory_growth;
mod metadata;
mod metadata_plan;
mod metadata_ranks;
mod names;
mod partitions;
mod program;
mod progress;
mod psiblast;
mod psiblast_in_msa;
mod psiblast_in_pssm;
mod psiblast_metadata;
mod psiblast_patterns;
mod psiblast_ranks;
mod records;
mod refusals;
mod replaced_reports;
mod report_files;
mod restrictions;
#[cfg(feature = "mpi")]
mod shared_pages;
mod shrinking_database;
#[cfg(feature = "mpi")]
mod silent_ranks;
mod standard_streams;
mod streaming;
mod subject_identity;
mod taxonomy;
mod tblastn;
mod tblastx;
mod threads;
mod waiting_signals;
mod wrap;

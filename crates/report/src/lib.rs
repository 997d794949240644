//! Formats alignments as reports: one pure function for each piece of an output format.
//!
//! A report consists of these pieces, in this order:
//! * [`prologue`](pieces::prologue) and [`first_query_prologue`](pieces::first_query_prologue);
//! * for each query [`query_header`](pieces::query_header), a
//!   [`subject_block`](pieces::subject_block) for each subject, and
//!   [`query_footer`](pieces::query_footer);
//! * [`epilogue`](pieces::epilogue).
//!
//! Each function appends its piece to a vector. A piece depends on the arguments only, so the rank
//! that holds a subject can make the block of that subject. [`format_query`](pieces::format_query)
//! makes all pieces of a query.
//!
//! This crate neither reads nor writes files. Its input comes in the structures and the trait of
//! [`model`].

pub mod alignment_positions;
mod anchored;
mod annotation;
mod archive;
pub mod archive_options;
pub mod archive_reader;
mod archived_name;
pub mod asn;
pub mod columns;
pub mod error;
mod extended;
mod joined;
pub mod json;
mod letters;
mod links;
pub mod masking;
pub mod model;
mod names;
mod number;
mod order;
mod organism;
mod output2;
pub mod pair;
mod pairwise;
pub mod papers;
pub mod pattern;
pub mod pieces;
mod program;
pub mod report_files;
pub mod row_position;
mod rows;
pub mod sam;
pub mod scoremat;
mod seq_align;
pub mod table;
mod tabular;
mod taxonomy;
mod text;
mod title;
mod unique_coverage;
mod xml;

pub use archive::{RepeatedSettings, repeat_archive, write_strategy};
pub use archived_name::ArchivedName;
pub use error::ReportError;
pub use joined::{join_hits, joins_hits, keep_first_subjects};
pub use names::{alignment_id, listed_subject};
pub use number::{bits, stored_evalue, tabular_evalue, with_commas};
pub use order::{SubjectScores, count_matches};
pub use tabular::{query_id, subject_id};
pub use text::append_escaped_xml_byte;
pub use title::{TitleFacts, UNNAMED_PROTEIN_TITLE, has_removed_prefix};

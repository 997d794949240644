//! What was typed.

use std::ffi::{OsStr, OsString};
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;

use fleetblast_job::error::Error;
use fleetblast_makedb::{Kind, Version};

use super::options_error;
use crate::options::makeblastdb::MAKEBLASTDB;
use crate::options::parse::Given;
use crate::options::values::Values;

/// The options in their types.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) kind: Kind,
    pub(super) version: Version,
    pub(super) input: OsString,
    pub(super) out: OsString,
    pub(super) title: OsString,
    pub(super) parse_ids: bool,
    pub(super) hash_index: bool,
    pub(super) max_file_size: OsString,
    pub(super) logfile: Option<OsString>,
    pub(super) taxid: Option<i32>,
    pub(super) taxid_map: Option<OsString>,
    pub(super) mask_data: Option<OsString>,
    pub(super) mask_id: Option<OsString>,
    pub(super) mask_desc: Option<OsString>,
    pub(super) threads: Option<NonZero<usize>>,
}

impl Options {
    /// Reads what was given, and checks it in the order of BLAST+.
    pub(super) fn new(given: &Given) -> Result<Self, Error> {
        let values = Values::new(&MAKEBLASTDB, given);
        if let Some(option) = values.unsupported() {
            return Err(Error::unsupported("makeblastdb", format_args!("-{option}")));
        }
        let input_type = values.text("input_type").unwrap_or_default();
        if input_type != "fasta" {
            let what = format!("-input_type {}", input_type.to_string_lossy());
            return Err(Error::unsupported("makeblastdb", what));
        }
        let input = values.text("in").unwrap_or_default();
        let out = values.text("out").unwrap_or_else(|| input.clone());
        if out == "-" || out.as_bytes().contains(&b' ') {
            return Err(options_error("Please provide a database name using -out"));
        }
        let title = values.text("title").unwrap_or_else(|| input.clone());
        if title == "-" {
            return Err(options_error("Please provide a title using -title"));
        }
        let kind = match values.text("dbtype").as_deref() {
            Some(kind) if kind == OsStr::new("prot") => Kind::Protein,
            _ => Kind::Nucleotide,
        };
        let four = values.integer("blastdb_version") == Some(4);
        Ok(Self {
            kind,
            version: if four { Version::Four } else { Version::Five },
            input,
            out,
            title,
            parse_ids: values.flag("parse_seqids"),
            hash_index: values.flag("hash_index"),
            max_file_size: values.text("max_file_sz").unwrap_or_default(),
            logfile: values.text("logfile"),
            taxid: values.integer("taxid"),
            taxid_map: values.text("taxid_map"),
            mask_data: values.text("mask_data"),
            mask_id: values.text("mask_id"),
            mask_desc: values.text("mask_desc"),
            threads: values.integer("num_threads").and_then(NonZero::new),
        })
    }
}

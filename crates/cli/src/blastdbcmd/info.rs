//! Description of a database (`-info`).

use std::os::unix::ffi::OsStrExt;

use fleetblast_db::SequenceKind;
use fleetblast_job::error::Error;
use fleetblast_job::output::ReportSink;
use fleetblast_report::with_commas;
use fleetblast_stats::release::Release;

use super::source::Source;
use crate::database_metadata::METADATA_FILES;

/// Writes the text of `-info`.
pub(super) fn write(
    source: &Source,
    exact_length: bool,
    out: &mut impl ReportSink,
) -> Result<(), Error> {
    let database = &source.database;
    let letters = match database.kind() {
        SequenceKind::Nucleotide => "bases",
        _ => "residues",
    };
    let whole = database.combined_info();
    let residues = if exact_length { database.exact_residue_count() } else { whole.residue_count };
    let number = |value: u64| with_commas(i64::try_from(value).unwrap_or(i64::MAX));
    let mut text = b"Database: ".to_vec();
    text.extend_from_slice(&whole.title);
    text.extend_from_slice(
        format!(
            "\n\t{} sequences; {} total {letters}\n\nDate: {}\tLongest sequence: {} {letters}\n\n\
             BLASTDB Version: {}\n",
            number(whole.sequence_count),
            number(residues),
            database.date(),
            number(database.reported_max_length(exact_length).into()),
            database.version(),
        )
        .as_bytes(),
    );
    out.write(&text)?;
    let mut text = source.masks()?.format_table();
    text.extend_from_slice(b"\nVolumes:\n");
    for path in &whole.volumes {
        text.push(b'\t');
        text.extend_from_slice(path);
        text.push(b'\n');
    }
    out.write(&text)
}

/// Sums the sizes of all files of a database in bytes (`CSeqDB::GetDiskUsage`, seqdb.cpp).
pub(super) fn disk_usage(database: &fleetblast_db::Database, release: &Release) -> u64 {
    const BOTH: [&str; 16] = [
        "al", "in", "hr", "sq", "ni", "nd", "pi", "pd", "aa", "ab", "ac", "og", "hi", "hd", "ti",
        "td",
    ];
    const VERSION_4: [&str; 2] = ["si", "sd"];
    const VERSION_5: [&str; 7] = ["db", "os", "ot", "tf", "to", "db-lock", "tf-lock"];
    let own: &[&str] = if database.version() == 5 { &VERSION_5 } else { &VERSION_4 };
    let later: &[&str] = if release.counts_metadata_files { &METADATA_FILES } else { &[] };
    let mut bytes = 0;
    for volume in database.volume_paths() {
        for extension in BOTH.iter().chain(own).chain(later) {
            let mut path = volume.as_os_str().as_bytes().to_vec();
            path.push(b'.');
            path.extend_from_slice(database.kind().extension(extension).as_bytes());
            let path = std::path::Path::new(std::ffi::OsStr::from_bytes(&path));
            bytes += std::fs::metadata(path).map_or(0, |file| file.len());
        }
    }
    bytes
}

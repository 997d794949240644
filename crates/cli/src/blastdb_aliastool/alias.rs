//! Alias files that restrict a database, or join several.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use fleetblast_db::restrict::list::is_binary_number_list;
use fleetblast_db::{Database, SequenceKind};
use fleetblast_job::error::Error;
use fleetblast_job::output::Output;
use fleetblast_job::plan::Destination;
use fleetblast_makedb::encode_gi_list;
use fleetblast_seq::convert::trim_spaces;
use fleetblast_seq::input::read_whole_file;
use fleetblast_stats::release::Release;

use super::options::AliasOptions;
use super::{destination, gi_list, with_extension, write_file};
use crate::dates;
use crate::messages::say;
use crate::options::blastdb_aliastool::{DBLIST_FILE, VDBLIST_FILE};
use crate::options::compat;
use crate::text_file::read_text_file;

/// A list in an alias file.
struct ListEntry<'a> {
    key: &'static str,
    /// Path of the list as the alias file states it.
    path: &'a OsStr,
    /// Path at which the list can be opened while the alias is checked; the list may not have its
    /// final path yet.
    checked: &'a OsStr,
}

const GILIST: &str = "GILIST";

/// Creates the alias that the options describe. Without databases, BLAST+ creates none.
pub(super) fn create(options: &AliasOptions) -> Result<(), Error> {
    let lists = [&options.gilist, &options.seqidlist, &options.taxidlist];
    let first_list = lists.into_iter().flatten().next();
    let list_name = match (&options.db, first_list) {
        (Some(_), None) => {
            return Err(Error::query_options(format_args!(
                "Either {} must be specified if database name is used",
                options.restrictions
            )));
        }
        (_, list) => list.map_or(&b""[..], |list| list.as_bytes()),
    };
    // The parser has checked that each option which makes an alias comes with -out.
    let Some(out) = &options.out else { return Ok(()) };
    let title = match (&options.title, &options.db) {
        (Some(title), _) => title.as_bytes().to_vec(),
        (None, Some(db)) => {
            let db = match options.release.restricts_several_databases {
                true => base_name(db.as_bytes()),
                false => db.as_bytes(),
            };
            [db, b" limited by ", list_name].concat()
        }
        (None, None) => Vec::new(),
    };
    let alias = Alias { out, kind: options.kind, title, release: options.release };
    let gis = options.gilist.as_deref().filter(|list| !list.is_empty());
    let gis = gis.map(|list| alias.binary_gi_list(list)).transpose()?;
    let made = write_alias(options, &alias, gis.as_ref().map(GiList::entry));
    // An older alias would mean the new list.
    if let Some(gis) = gis.filter(|_| made.is_ok() || !Path::new(&alias.path("al")).exists()) {
        gis.place()?;
    }
    made?;
    let names = match (&options.vdblist, &options.vdblist_file) {
        (Some(names), _) => split_at_blanks(names),
        (None, Some(path)) => names_in_file(VDBLIST_FILE.name(), path)?,
        (None, None) => return Ok(()),
    };
    let joins = options.dblist.is_some() || options.dblist_file.is_some();
    alias.write_vdbs(&names, joins)
}

/// Writes the alias of the databases that the options name, if any. `gis` is the list of
/// `-gilist`.
fn write_alias(
    options: &AliasOptions,
    alias: &Alias<'_>,
    gis: Option<ListEntry<'_>>,
) -> Result<(), Error> {
    let text_list = |key, list| match OsStr::is_empty(list) {
        true => Ok(None),
        false => require_file(list, options.release)
            .map(|()| Some(ListEntry { key, path: list, checked: list })),
    };
    let names = |db: &OsString| match options.release.restricts_several_databases {
        true => split_at_blanks(db),
        false => vec![db.as_bytes().to_vec()],
    };
    match (options, &options.db) {
        (AliasOptions { dblist: Some(names), .. }, _) => {
            // BLAST+ checks only these names, not those of -dblist_file.
            let search = compat::search_path(options.release)?;
            let opened =
                Database::open_to_describe(&names.to_string_lossy(), options.kind, &search);
            opened.map_err(|error| compat::database_error(options.release, error))?;
            alias.write(&split_at_blanks(names), GILIST, gis)
        }
        (AliasOptions { dblist_file: Some(path), .. }, _) => {
            alias.write(&names_in_file(DBLIST_FILE.name(), path)?, GILIST, gis)
        }
        (AliasOptions { num_volumes: Some(count), .. }, _) => alias.write_volumes(*count),
        (AliasOptions { gilist: Some(_), .. }, Some(db)) => alias.write(&names(db), GILIST, gis),
        (AliasOptions { seqidlist: Some(list), .. }, Some(db)) => {
            const KEY: &str = "SEQIDLIST";
            alias.write(&names(db), KEY, text_list(KEY, list)?)
        }
        (AliasOptions { taxidlist: Some(list), .. }, Some(db)) => {
            const KEY: &str = "TAXIDLIST";
            alias.write(&names(db), KEY, text_list(KEY, list)?)
        }
        _ => Ok(()),
    }
}

/// The binary list of `-gilist`.
struct GiList {
    /// Path of the list as the alias file states it.
    path: OsString,
    /// The complete list and its temporary path, if it does not have its final path yet.
    unplaced: Option<(Output, OsString)>,
}

impl GiList {
    fn entry(&self) -> ListEntry<'_> {
        let checked = match &self.unplaced {
            Some((_, temporary)) if is_beside_alias(Path::new(&self.path)) => temporary,
            _ => &self.path,
        };
        ListEntry { key: GILIST, path: &self.path, checked }
    }

    /// Gives the list its final path.
    fn place(self) -> Result<(), Error> {
        self.unplaced.map_or(Ok(()), |(output, _)| output.commit())
    }
}

/// Returns whether an alias in the directory of `list` finds the list by this path. A relative path
/// begins in the directory of the alias, so `sub/list` in the alias `sub/alias` is another file.
fn is_beside_alias(list: &Path) -> bool {
    let directory = list.parent().unwrap_or(Path::new(""));
    let real = |directory: &Path| fs::canonicalize(directory.join(".")).ok();
    real(&directory.join(directory)) == real(directory)
}

/// An alias to create.
struct Alias<'a> {
    /// Path of the alias without extension.
    out: &'a OsStr,
    kind: SequenceKind,
    /// Title; empty for none.
    title: Vec<u8>,
    /// The release that the program follows.
    release: &'static Release,
}

impl Alias<'_> {
    /// Returns the path of the alias with an extension: `p` or `n` for the type of the sequences,
    /// then `rest`.
    fn path(&self, rest: &str) -> OsString {
        with_extension(self.out, &format!(".{}", self.kind.extension(rest)))
    }

    /// Returns the first lines of an alias file.
    fn head(&self) -> Vec<u8> {
        let date = dates::now().log;
        let mut text = format!("#\n# Alias file created {date}\n#\n").into_bytes();
        if !self.title.is_empty() {
            text.extend([b"TITLE ", &self.title[..], b"\n"].concat());
        }
        text
    }

    /// Writes the alias of these databases, with at most one list. BLAST+ opens the alias without
    /// totals, and then adds the totals.
    ///
    /// `key` is the kind of list that BLAST+ names if no sequence is included.
    fn write(
        &self,
        databases: &[Vec<u8>],
        key: &str,
        list: Option<ListEntry<'_>>,
    ) -> Result<(), Error> {
        let failed = || {
            let text = "BLASTDB alias file creation failed.  Some referenced files may be missing";
            Error::database(text)
        };
        let mut text = self.head();
        text.extend(names_line("DBLIST", databases));
        let mut checked = text.clone();
        if let Some(ListEntry { key, path, checked: found }) = list {
            let line = |path: &OsStr| [key.as_bytes(), b" ", path.as_bytes(), b"\n"].concat();
            text.extend(line(path));
            checked.extend(line(found));
        }
        let path = PathBuf::from(self.path("al"));
        let mut output = Output::open(&Destination::File(path.clone())).map_err(|_| failed())?;
        let search = compat::search_path(self.release)?.with_planned_alias(&path, checked);
        let name = self.out.to_string_lossy();
        let database = Database::open_to_describe(&name, self.kind, &search);
        let database = database.map_err(|_| failed())?;
        let (sequences, residues) = totals(&database);
        if sequences == 0 {
            let what = format!("No seqs in {key} were found in BLAST database");
            return Err(Error::database(what));
        }
        text.extend(totals_lines(sequences, residues));
        output.write(&text)?;
        output.commit()?;
        let kind = self.kind.name();
        let line =
            format!("Created {kind} BLAST (alias) database {name} with {sequences} sequences");
        say(line.as_bytes());
        Ok(())
    }

    /// Writes the alias of `count` volumes. The name of each volume is that of the alias with a
    /// number as extension.
    fn write_volumes(&self, count: u32) -> Result<(), Error> {
        let search = compat::search_path(self.release)?;
        let kind = self.kind.name();
        let (mut all, mut listed) = (Vec::new(), Vec::new());
        let digits =
            if self.release.counts_digits_of_volumes { count.to_string().len() } else { 2 };
        for number in 0..count {
            let extension = format!(".{number:0width$}", width = digits.max(2));
            let volume = with_extension(self.out, &extension).into_vec();
            if !search.has_database(&volume, self.kind) {
                let name = String::from_utf8_lossy(&volume);
                let what = format!("Failed to find {kind} {name} BLAST database");
                return Err(compat::database_file_error(self.release, what));
            }
            listed.extend([file_name(&volume), b" "].concat());
            all.extend([&volume[..], b" "].concat());
        }
        let names = String::from_utf8_lossy(&all);
        // BLAST+ states no sequences if the volumes cannot be opened.
        let opened = Database::open_to_describe(&names, self.kind, &search);
        let (sequences, residues) = opened.map_or((0, 0), |database| totals(&database));
        let mut text = self.head();
        // BLAST+ begins the list with an empty name for each volume.
        let empty = vec![b' '; count as usize];
        text.extend([b"DBLIST ", &empty[..], &listed, b"\n"].concat());
        text.extend(totals_lines(sequences, residues));
        write_file(&destination(&self.path("al")), &text)?;
        let line =
            format!("Created {kind} BLAST (alias) database {names} with {sequences} sequences");
        say(line.as_bytes());
        Ok(())
    }

    /// Adds names of VDBs to the alias file if `joins` is true, or else writes a file with only
    /// these names. An empty list has no effect.
    fn write_vdbs(&self, names: &[Vec<u8>], joins: bool) -> Result<(), Error> {
        if names.is_empty() {
            return Ok(());
        }
        let path = self.path(if joins { "al" } else { "vl" });
        let mut text = match joins {
            true => fs::read(&path).map_err(|error| {
                Error::output(format_args!("{}: {error}", path.to_string_lossy()))
            })?,
            false => self.head(),
        };
        text.extend(names_line("VDBLIST", names));
        write_file(&destination(&path), &text)
    }

    /// Returns the file with the list of GIs in binary. Converts a text list to a new file beside
    /// the alias; the caller gives that file its final path.
    fn binary_gi_list(&self, list: &OsStr) -> Result<GiList, Error> {
        require_file(list, self.release)?;
        let shown = list.to_string_lossy();
        let contents = read_whole_file(Path::new(list))
            .map_err(|error| Error::database(format_args!("{shown}: {error}")))?;
        let is_binary = is_binary_number_list(&contents);
        if is_binary.map_err(|what| compat::database_file_error(self.release, what))? {
            return Ok(GiList { path: list.to_owned(), unplaced: None });
        }
        let gis = gi_list::parse(&contents);
        let letter = self.kind.extension_letter();
        let path = with_extension(self.out, &format!(".{letter}.gil"));
        let binary = path.to_string_lossy();
        let line = format!("Converted {} GIs from {shown} to binary format in {binary}", gis.len());
        say(line.as_bytes());
        let mut output = Output::open(&destination(&path))?;
        output.write(&encode_gi_list(gis))?;
        output.flush()?;
        // A list that was written directly is in place.
        let temporary = output.temporary_path().map_or_else(|| path.clone(), PathBuf::into);
        Ok(GiList { path, unplaced: Some((output, temporary)) })
    }
}

/// Returns the numbers of sequences and residues that BLAST+ states for a database.
fn totals(database: &Database) -> (u64, u64) {
    let info = database.combined_info();
    (info.sequence_count, info.residue_count)
}

fn totals_lines(sequences: u64, residues: u64) -> Vec<u8> {
    format!("NSEQ {sequences}\nLENGTH {residues}\n").into_bytes()
}

/// Formats a line with names in quotes.
fn names_line(key: &str, names: &[Vec<u8>]) -> Vec<u8> {
    let mut line = format!("{key} ").into_bytes();
    for name in names {
        line.extend([b"\"", &name[..], b"\" "].concat());
    }
    line.push(b'\n');
    line
}

/// Fails if a list is not a regular file.
fn require_file(list: &OsStr, release: &Release) -> Result<(), Error> {
    match Path::new(list).is_file() {
        true => Ok(()),
        false => {
            let what = format_args!("{} not found", list.to_string_lossy());
            Err(compat::database_file_error(release, what))
        }
    }
}

/// Splits names at each blank. Two blanks enclose an empty name; an empty text has no name.
fn split_at_blanks(names: &OsStr) -> Vec<Vec<u8>> {
    let names = names.as_bytes();
    let pieces = names.split(|&byte| byte == b' ').filter(|_| !names.is_empty());
    pieces.map(<[u8]>::to_vec).collect()
}

/// Reads names, one on each line, from the file that `option` names.
fn names_in_file(option: &str, path: &OsStr) -> Result<Vec<Vec<u8>>, Error> {
    let text = read_text_file(option, path)?;
    let lines = text.split(|&byte| byte == b'\n').map(trim_spaces);
    Ok(lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect())
}

/// Returns the part of a path after the last slash.
fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// Returns the last part of a path, without an extension of a database such as `.pin` or `.nal`.
fn base_name(path: &[u8]) -> &[u8] {
    let name = file_name(path);
    match name.len().checked_sub(4).map(|at| name.split_at(at)) {
        Some((base, b".pin" | b".nin" | b".pal" | b".nal" | b".pdb" | b".ndb")) => base,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_titles_have_no_directories_nor_extensions() {
        for (path, name) in [("d/p5", "p5"), ("./a.pin", "a"), ("b.xyz", "b.xyz"), ("f.pal", "f")] {
            assert_eq!(base_name(path.as_bytes()), name.as_bytes());
        }
    }
}

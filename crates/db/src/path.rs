//! Paths and names as NCBI's SeqDB treats them: bytes, joined and normalised textually.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A path without its extension, as BLAST+ names databases.
pub(crate) type BasePath = Vec<u8>;

/// Converts the bytes of a path to a string of the operating system.
pub(crate) fn os_str(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

/// Appends a dot and `extension` to `base`. Returns the path in the file system.
pub(crate) fn with_extension(base: &[u8], extension: &str) -> PathBuf {
    let mut bytes = base.to_vec();
    bytes.push(b'.');
    bytes.extend_from_slice(extension.as_bytes());
    PathBuf::from(os_str(&bytes))
}

/// Returns whether `base.extension` is a file (not a directory).
pub(crate) fn has_file(base: &[u8], extension: &str) -> bool {
    with_extension(base, extension).is_file()
}

/// Converts a path to text for messages.
pub(crate) fn display_text(base: &[u8]) -> String {
    String::from_utf8_lossy(base).into_owned()
}

/// Returns the part before the last slash; empty if there is no slash.
pub(crate) fn directory(base: &[u8]) -> &[u8] {
    base.iter().rposition(|&b| b == b'/').map_or(&[], |at| &base[..at])
}

/// Returns the part after the last slash.
pub(crate) fn file_name(base: &[u8]) -> &[u8] {
    base.iter().rposition(|&b| b == b'/').map_or(base, |at| &base[at + 1..])
}

/// Joins `directory` and `name`. Returns an absolute `name` unchanged.
pub(crate) fn join(directory: &[u8], name: &[u8]) -> BasePath {
    if directory.is_empty() || name.first() == Some(&b'/') {
        return name.to_vec();
    }
    let mut joined = directory.to_vec();
    if joined.last() != Some(&b'/') {
        joined.push(b'/');
    }
    joined.extend_from_slice(name);
    joined
}

/// Normalises the directory of a base path. Keeps the last component even if it is a link.
pub(crate) fn normalize_directory(base: &[u8]) -> BasePath {
    let mut normal = normalize(directory(base));
    normal.push(b'/');
    normal.extend_from_slice(file_name(base));
    normal
}

/// Maximal number of symbolic links to follow, as in `CDirEntry::NormalizePath` (ncbifile.cpp).
const MOST_LINKS: usize = 1024;

/// Removes `.`, empty and `..` components and follows symbolic links. The path need not exist. The
/// empty path stays empty; a relative path stays relative.
pub(crate) fn normalize(path: &[u8]) -> Vec<u8> {
    if path.is_empty() {
        return Vec::new();
    }
    let mut absolute = path[0] == b'/';
    let mut links = 0;
    let mut done: Vec<Vec<u8>> = Vec::new();
    let mut todo: Vec<Vec<u8>> = components(path);
    while let Some(next) = todo.pop() {
        match next.as_slice() {
            b"" | b"." => continue,
            b".." if done.last().is_some_and(|last| last != b"..") => {
                done.pop();
                continue;
            }
            b".." if absolute && done.is_empty() => continue,
            _ => {}
        }
        done.push(next);
        if links < MOST_LINKS
            && let Ok(target) = Path::new(os_str(&assemble(absolute, &done))).read_link()
        {
            links += 1;
            done.pop();
            let target = target.as_os_str().as_bytes();
            if target.first() == Some(&b'/') {
                absolute = true;
                done.clear();
            }
            todo.extend(components(target));
        }
    }
    match assemble(absolute, &done) {
        empty if empty.is_empty() => b".".to_vec(),
        normal => normal,
    }
}

/// Returns the components of a path in reverse order, so that the first one is popped first.
fn components(path: &[u8]) -> Vec<Vec<u8>> {
    path.split(|&b| b == b'/').rev().map(<[u8]>::to_vec).collect()
}

fn assemble(absolute: bool, parts: &[Vec<u8>]) -> Vec<u8> {
    let mut path = if absolute { b"/".to_vec() } else { Vec::new() };
    path.extend_from_slice(&parts.join(&b'/'));
    path
}

/// Splits a list of names at blanks. Text in double quotes is one name.
///
/// With `keep_quotes` the quotes stay part of the name. The report opens and labels each database
/// of `-db` by such names. After a closing quote, the next byte is then skipped, whatever it is
/// (`SeqDB_SplitQuoted`, seqdbcommon.cpp). An unterminated quote extends to the end. An opening
/// quote also ends the word directly before it.
pub(crate) fn split_names(list: &[u8], keep_quotes: bool) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    let mut add = |name: Option<&[u8]>| match name {
        Some(name) if !name.is_empty() => names.push(name.to_vec()),
        _ => {}
    };
    let (mut start, mut at, mut quoted) = (0, 0, false);
    while at < list.len() {
        match (list[at], quoted) {
            (b'"', true) => {
                at += usize::from(keep_quotes);
                add(list.get(start..at));
                start = at + 1;
                quoted = false;
            }
            (b'"', false) => {
                add(list.get(start..at));
                start = if keep_quotes { at } else { at + 1 };
                quoted = true;
            }
            (b' ', false) => {
                add(list.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    add(list.get(start..));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(path: &str) -> String {
        display_text(&normalize(path.as_bytes()))
    }

    #[test]
    fn paths_are_normalised_like_ncbi_does() {
        assert_eq!(normal(""), "");
        assert_eq!(normal("/"), "/");
        assert_eq!(normal(".."), "..");
        assert_eq!(normal("./cwrc"), "cwrc");
        assert_eq!(normal("/nc/rc:/b/../c/"), "/nc/rc:/c");
        assert_eq!(normal("/../x//y/."), "/x/y");
        assert_eq!(normal("a/.."), ".");
        assert_eq!(normal("../../a"), "../../a");
    }

    #[test]
    fn links_to_directories_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let real = normalize(dir.path().as_os_str().as_bytes());
        std::fs::create_dir(dir.path().join("to")).unwrap();
        std::os::unix::fs::symlink("to", dir.path().join("from")).unwrap();
        std::os::unix::fs::symlink("loop", dir.path().join("loop")).unwrap();
        assert_eq!(normalize(&join(&real, b"from/db")), join(&real, b"to/db"));
        assert_eq!(normalize(&join(&real, b"loop/db")), join(&real, b"loop/db"));
        assert_eq!(normalize_directory(&join(&real, b"from/db")), join(&real, b"to/db"));
    }

    #[test]
    fn names_are_split_at_blanks_and_quotes() {
        let split = |list: &str, keep| -> Vec<String> {
            split_names(list.as_bytes(), keep).iter().map(|n| display_text(n)).collect()
        };
        assert_eq!(split("a  b ", false), ["a", "b"]);
        assert_eq!(split("\"my db\" b", false), ["my db", "b"]);
        assert_eq!(split("\"my db\" b", true), ["\"my db\"", "b"]);
        assert_eq!(split("\"a5\"b5", true), ["\"a5\"", "5"]);
        assert_eq!(split("\"a5\"b5", false), ["a5", "b5"]);
        assert_eq!(split("a\"b c", false), ["a", "b c"]);
        assert!(split(" \"\" ", false).is_empty());
        assert!(split("\"", false).is_empty());
    }
}

use std::collections::HashMap;

use super::*;

#[test]
fn no_directory_is_large_with_131072_writers() {
    let run = Run { root: "d".into(), number: 1, job: 0, codec: Codec::Zstd };
    let mut entries: HashMap<PathBuf, std::collections::HashSet<PathBuf>> = HashMap::new();
    for writer in 0..131_072 {
        let mut path = run.path(FileId { run: 1, writer });
        while let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            let parent = parent.to_path_buf();
            entries.entry(parent.clone()).or_default().insert(path);
            path = parent;
        }
    }
    assert_eq!(entries.values().map(|names| names.len()).max(), Some(256));
    let files = entries.values().flatten().filter(|path| path.extension().is_some());
    assert_eq!(files.count(), 131_072);
    assert_eq!(entries.len(), 1 + 32 + 8192);
}

#[test]
fn only_exact_names_are_files() {
    let last = FileId { run: u32::MAX, writer: MAX_WRITERS - 1 };
    assert_eq!(FileId::parse(&last.name("zst"), "zst"), Some(last));
    for name in [
        "writer-1-2",
        "writer-01-2.zst",
        "writer-+1-2.zst",
        "writer-1-4294967296.zst",
        "writer-1048576-1.zst",
        "writer-1-2-3.zst",
        ".writer-1-2.zst",
    ] {
        assert_eq!(FileId::parse(name, "zst"), None, "{name}");
    }
}

#[test]
fn files_are_found_only_where_they_belong() {
    let root = tempfile::tempdir().expect("a directory");
    let run = Run { root: root.path().to_path_buf(), number: 9, job: 0, codec: Codec::Zstd };
    let files = [(1, 0), (1, 70_000), (2, 0), (2, 15), (9, 1_048_575)];
    let files = files.map(|(run, writer)| FileId { run, writer });
    for file in files.into_iter().rev() {
        let path = run.path(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, "").expect("a file");
    }
    for stray in ["00/00/writer-16-1.zst", "00/00/notes", "11/notes", "notes"] {
        fs::write(root.path().join(stray), "").expect("a file");
    }
    assert_eq!(run.files().expect("readable"), files);
    run.remove_files().expect("removable");
    assert_eq!(run.files().expect("readable"), []);
    let mut left = entries(root.path()).expect("readable");
    left.sort();
    assert_eq!(left, ["00", "11", "notes"]);
}

//! Tests of mapped files that are cut short while they are read. They are a test program of their
//! own, because a lost page stays recorded until the process ends.

use std::env;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use fleetblast_db::{
    SearchPath, TaxonomyNames, check_lost_pages, check_mapped_files, has_no_lost_page,
};

/// Environment variable with the directory for the child process that SIGBUS ends.
const DIRECTORY: &str = "LOST_PAGES_DIRECTORY";
const SIGBUS: i32 = 7;
/// Number of taxa in the file, whose names fill some pages.
const TAXA: u32 = 500;

/// Writes names of taxa in the layout of `taxdb`.
fn write_names(directory: &Path) {
    let names = |taxid: u32| format!("Genus species{taxid}\tcommon{taxid}\tgroup\tEukaryota");
    let mut data = Vec::new();
    let mut words = vec![0x8739, TAXA, 0, 0, 0, 0];
    for taxid in 1..=TAXA {
        words.extend([taxid, data.len() as u32]);
        data.extend(names(taxid).into_bytes());
    }
    let index: Vec<u8> = words.into_iter().flat_map(u32::to_be_bytes).collect();
    fs::write(directory.join("taxdb.bti"), index).expect("an index");
    fs::write(directory.join("taxdb.btd"), data).expect("names");
}

fn cut(path: &Path, length: u64) {
    let file = File::options().write(true).open(path).expect("a file");
    file.set_len(length).expect("a shorter one");
}

#[test]
fn lost_pages_are_zeros_and_nothing_is_published() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    write_names(directory);
    let search = SearchPath::new(Path::new("/"), directory.as_os_str(), None);
    let names = TaxonomyNames::find_on_search_path(&search);
    assert!(names.names_of_taxid(400).expect("sound").is_some());
    assert!(check_mapped_files().is_ok() && has_no_lost_page());
    // The file is cut within a page, which sends no signal.
    cut(&directory.join("taxdb.btd"), 20_000);
    assert!(names.names_of_taxid(400).is_ok() && check_lost_pages().is_ok());
    let error = check_mapped_files().expect_err("it is shorter").to_string();
    assert!(error.contains("taxdb.btd) was changed") && error.contains("has 20000"), "{error}");
    cut(&directory.join("taxdb.btd"), 5000);
    assert_eq!(names.names_of_taxid(400).expect("zeros are no names"), None);
    assert!(!has_no_lost_page());
    let error = check_lost_pages().expect_err("a page is lost").to_string();
    assert!(error.contains("taxdb.btd) was changed") && error.contains("has 5000"), "{error}");
    assert!(error.contains("could not be read any more"), "{error}");
    // The lost page stays recorded, whatever happens to the file.
    let first = names.names_of_taxid(1).expect("still there").expect("still there");
    assert_eq!(first.common_name, b"common1");
    drop(names);
    fs::remove_file(directory.join("taxdb.btd")).expect("a file");
    let error = check_mapped_files().expect_err("a page was lost").to_string();
    assert!(error.contains("could not be read"), "{error}");
}

#[test]
fn what_is_no_mapped_file_of_ours_ends_the_process_as_ever() {
    let Some(directory) = env::var_os(DIRECTORY) else {
        let directory = tempfile::tempdir().expect("a directory");
        let mut again = Command::new(env::current_exe().expect("this program"));
        again.args(["--exact", "what_is_no_mapped_file_of_ours_ends_the_process_as_ever"]);
        let output = again.env(DIRECTORY, directory.path()).output().expect("an end");
        assert_eq!(output.status.signal(), Some(SIGBUS), "{output:?}");
        return;
    };
    let directory = Path::new(&directory);
    write_names(directory);
    let search = SearchPath::new(Path::new("/"), directory.as_os_str(), None);
    let names = TaxonomyNames::find_on_search_path(&search);
    assert!(names.names_of_taxid(1).expect("sound").is_some());
    let other = directory.join("other");
    fs::write(&other, vec![1; 20_000]).expect("a file");
    let file = File::open(&other).expect("a file");
    // SAFETY: the mapping is only read at one byte, which is expected to end the process.
    let map = unsafe { memmap2::Mmap::map(&file) }.expect("a mapping");
    cut(&other, 100);
    println!("{}", std::hint::black_box(&map)[19_000]);
}

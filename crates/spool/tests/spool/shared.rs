//! Directories where other users can write: the spool does not follow, overwrite or trust their
//! files.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{chown, symlink};
use std::path::Path;

use fleetblast_spool::{Checkpoint, Error, Run, StartMode, Writer};

use crate::common::{append, contents, properties, start};

/// Number of another user.
const SOMEBODY: u32 = 4242;

fn open(root: &Path) -> Result<Checkpoint, Error> {
    Checkpoint::open(root, &properties(), StartMode::NewOrResume)
}

/// Makes a file of another user. A name in the directory of a job can be a link to it.
fn victim(parent: &Path) -> std::path::PathBuf {
    let path = parent.join("victim");
    fs::write(&path, "precious").expect("a file");
    path
}

fn is_untouched(victim: &Path) -> bool {
    fs::read(victim).is_ok_and(|bytes| bytes == b"precious")
}

#[test]
fn a_link_in_the_place_of_the_next_job_file_is_not_followed() {
    let parent = tempfile::tempdir().expect("a directory");
    let victim = victim(parent.path());
    let root = parent.path().join("job");
    fs::create_dir(&root).expect("a directory");
    symlink(&victim, root.join("job.new")).expect("a link");
    assert_eq!(open(&root).expect("a job").run().number, 1);
    assert!(is_untouched(&victim));
    assert!(fs::symlink_metadata(root.join("job")).expect("a file").is_file());
}

#[test]
fn links_to_a_lock_or_a_job_are_refused() {
    for name in ["lock", "job"] {
        let parent = tempfile::tempdir().expect("a directory");
        let victim = victim(parent.path());
        let root = parent.path().join("job");
        fs::create_dir(&root).expect("a directory");
        symlink(&victim, root.join(name)).expect("a link");
        let error = open(&root).expect_err("a link");
        assert!(matches!(error, Error::Foreign { .. }), "{error}");
        assert!(error.to_string().contains(&format!("job/{name} is a link")), "{error}");
        assert!(is_untouched(&victim));
    }
}

#[test]
fn a_link_in_the_place_of_a_directory_of_records_is_refused() {
    let parent = tempfile::tempdir().expect("a directory");
    let (root, elsewhere) = (parent.path().join("job"), parent.path().join("elsewhere"));
    fs::create_dir(&elsewhere).expect("a directory");
    let checkpoint = start(&root);
    symlink(&elsewhere, root.join("00")).expect("a link");
    let mut writer = Writer::new(checkpoint.run(), 0, 4096).expect("a writer");
    append(&mut writer, 1, &contents(1, 100)).expect("it is collected");
    assert!(matches!(writer.flush(), Err(Error::Io { .. })));
    assert_eq!(fs::read_dir(elsewhere).expect("a directory").count(), 0);
}

/// Otherwise records of a user who knows the mark of the job would become results.
#[test]
fn files_of_other_users_are_refused() {
    let parent = tempfile::tempdir().expect("a directory");
    let root = parent.path().join("job");
    let run: Run = start(&root).run().clone();
    let mut writer = Writer::new(&run, 0, 4096).expect("a writer");
    append(&mut writer, 1, &contents(1, 100)).expect("it is collected");
    writer.sync().expect("it is written");
    let file = *run.files().expect("readable").first().expect("a file");
    assert_eq!(run.scan(file).expect("readable").places.len(), 1);
    if chown(run.path(file), Some(SOMEBODY), None).is_err() {
        // A macro is not used, because the test harness would capture its output.
        let note = b"NOT TESTED: files of others, as this user cannot give files away\n";
        std::io::stderr().write_all(note).expect("standard error");
        return;
    }
    let error = run.scan(file).expect_err("somebody's");
    assert!(error.to_string().contains("a file of another user (number 4242)"), "{error}");
    for name in ["lock", "job"] {
        chown(root.join(name), Some(SOMEBODY), None).expect("as before");
        assert!(matches!(open(&root), Err(Error::Foreign { .. })), "{name}");
        chown(root.join(name), Some(0), None).expect("as before");
    }
    assert_eq!(open(&root).expect("a job").run().number, 2);
}

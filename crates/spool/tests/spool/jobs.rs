//! Tests of starting, resuming, refusing and removing jobs.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use fleetblast_spool::{Checkpoint, Error, LOCK_TIMEOUT, LockHolder, StartMode, Writer};
use tempfile::TempDir;

use crate::common::{append, contents, properties, start};

/// A silence after which a holder is dead, with a wide margin: the clock of a file system can lag
/// by some milliseconds.
const LONG: Duration = LOCK_TIMEOUT.saturating_add(Duration::from_secs(1));

fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn open(root: &Path, how: StartMode) -> Result<Checkpoint, Error> {
    Checkpoint::open(root, &properties(), how)
}

fn names(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root).expect("readable");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.expect("readable").file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

#[test]
fn each_start_has_a_number() {
    let parent = directory();
    let root = parent.path().join("job");
    assert!(matches!(open(&root, StartMode::Resume), Err(Error::NoJob(_))));
    assert!(!root.exists());
    let first = open(&root, StartMode::New).expect("a new job").run().clone();
    assert_eq!(first.number, 1);
    assert!(matches!(open(&root, StartMode::New), Err(Error::Occupied(_))));
    let second = open(&root, StartMode::Resume).expect("a job").run().clone();
    let third = open(&root, StartMode::NewOrResume).expect("a job").run().clone();
    assert_eq!((second.number, third.number), (2, 3));
    assert_eq!([second.job, third.job], [first.job; 2]);
    assert_eq!(names(&root), ["job", "lock"]);
}

#[test]
fn directories_of_others_are_not_touched() {
    let root = directory();
    fs::write(root.path().join("thesis.tex"), "").expect("a file");
    for how in [StartMode::New, StartMode::NewOrResume] {
        let error = open(root.path(), how).expect_err("not empty");
        assert!(error.to_string().contains("contains 'thesis.tex'"), "{error}");
    }
    assert!(matches!(open(root.path(), StartMode::Resume), Err(Error::NoJob(_))));
    assert_eq!(names(root.path()), ["thesis.tex"]);
    let file = root.path().join("thesis.tex");
    assert!(matches!(open(&file, StartMode::New), Err(Error::Io { .. })));
    assert!(matches!(open(&root.path().join("no/such"), StartMode::New), Err(Error::Io { .. })));
}

#[test]
fn another_job_is_refused_with_the_reason() {
    let root = directory();
    drop(start(root.path()));
    let before = fs::read(root.path().join("job")).expect("readable");
    let mut other = properties();
    other.options.insert("-evalue".to_owned(), "1e-5".to_owned());
    other.database.sequences = 8;
    let error = Checkpoint::open(root.path(), &other, StartMode::Resume).expect_err("another job");
    let expected = format!(
        "{} keeps the results of another job: the number of sequences in the database was '7' and is '8'; \
         the option -evalue was '10' and is '1e-5'; start the job as it was, or name another directory",
        root.path().display()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(fs::read(root.path().join("job")).expect("readable"), before);
    assert_eq!(start(root.path()).run().number, 2);
}

#[test]
fn a_job_file_that_makes_no_sense_is_refused() {
    let root = directory();
    drop(start(root.path()));
    let path = root.path().join("job");
    let text = fs::read_to_string(&path).expect("readable");
    assert!(text.contains(r#""format": 3,"#), "{text}");
    for (damaged, expected) in [
        (String::new(), "EOF while parsing"),
        (text[..text.len() / 2].to_owned(), "EOF while parsing"),
        (
            text.replace(r#""format": 3,"#, r#""format": 4,"#),
            "its format is 4, and this version knows 3",
        ),
        (text.replace(r#""runs": 1,"#, r#""runs": 4294967295,"#), "it was started too often"),
        (text.replace(r#""runs": 1,"#, r#""runs": -1,"#), "invalid value: integer `-1`"),
        (text.replace(r#""runs": 1,"#, r#""runs": 1, "walks": 1,"#), "unknown field `walks`"),
    ] {
        fs::write(&path, damaged).expect("room");
        let error = open(root.path(), StartMode::Resume).expect_err("no job");
        assert!(matches!(error, Error::JobFile { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_start_that_was_killed_at_once_is_no_obstacle() {
    let root = directory();
    fs::write(root.path().join("job.new"), "{").expect("room");
    fs::write(root.path().join("lock"), "").expect("room");
    assert_eq!(open(root.path(), StartMode::New).expect("a job").run().number, 1);
}

#[test]
fn removing_leaves_nothing() {
    let parent = directory();
    let root = parent.path().join("job");
    for _ in 0..2 {
        let job = start(&root);
        for number in [0, 1, 20, 70_000] {
            let mut writer = Writer::new(job.run(), number, 0).expect("a writer");
            append(&mut writer, 0, &contents(0, 100)).expect("room");
            writer.sync().expect("room");
        }
    }
    assert_eq!(names(&root), ["00", "11", "job", "lock"]);
    start(&root).remove().expect("removable");
    assert_eq!(names(parent.path()), [""; 0]);
}

#[test]
fn removing_keeps_what_is_not_of_the_job() {
    let root = directory();
    let job = start(root.path());
    let mut writer = Writer::new(job.run(), 0, 0).expect("a writer");
    append(&mut writer, 0, b"").expect("room");
    writer.sync().expect("room");
    fs::write(root.path().join("00/00/notes"), "").expect("room");
    let error = job.remove().expect_err("something is left");
    assert!(error.to_string().starts_with("cannot remove the directory "), "{error}");
    assert_eq!(names(root.path()), ["00"]);
    assert_eq!(names(&root.path().join("00/00")), ["notes"]);
}

#[test]
fn a_second_job_is_refused_while_the_first_lives() {
    let root = directory();
    let first = start(root.path());
    let error = open(root.path(), StartMode::Resume).expect_err("in use");
    let Error::Locked { holder: Some(holder), retry_after: None, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(holder.pid, std::process::id());
    let expected = format!(
        "{} is in use by process {} on {} since {}; wait for its end, or name another directory",
        root.path().display(),
        holder.pid,
        holder.host,
        holder.since
    );
    assert_eq!(error.to_string(), expected);
    first.renew_lock().expect("still its own");
    drop(first);
    assert_eq!(start(root.path()).run().number, 2);
}

/// Writes the lock file of a process on another host that was silent for this time.
fn leave_lock(root: &Path, text: &str, silence: Duration) {
    let path = root.join("lock");
    fs::write(&path, text).expect("room");
    let file = File::options().write(true).open(path).expect("a file");
    file.set_modified(SystemTime::now() - silence).expect("a time");
}

fn elsewhere() -> String {
    let holder = LockHolder {
        host: "node17".to_owned(),
        pid: 4711,
        since: "2021-01-01T00:00:00Z".to_owned(),
        boot: "another".to_owned(),
    };
    serde_json::to_string(&holder).expect("text")
}

#[test]
fn a_job_on_another_machine_is_waited_for() {
    let root = directory();
    drop(start(root.path()));
    leave_lock(root.path(), &elsewhere(), LOCK_TIMEOUT - Duration::from_secs(20));
    let error = open(root.path(), StartMode::Resume).expect_err("perhaps alive");
    let Error::Locked { retry_after: Some(time), .. } = &error else { panic!("{error}") };
    assert!((15..=20).contains(&time.as_secs()), "{time:?}");
    let text = error.to_string();
    assert!(
        text.contains(" is in use by process 4711 on node17 since 2021-01-01T00:00:00Z; "),
        "{text}"
    );
    assert!(text.contains("if that job is dead, start again in "), "{text}");

    leave_lock(root.path(), &elsewhere(), LONG);
    assert_eq!(start(root.path()).run().number, 2);

    // The text is incomplete, as if it was cut off during writing.
    leave_lock(root.path(), &elsewhere()[..20], Duration::ZERO);
    let error = open(root.path(), StartMode::Resume).expect_err("perhaps alive");
    assert!(error.to_string().contains("a process that did not leave its name"), "{error}");
    leave_lock(root.path(), &elsewhere()[..20], LONG);
    assert_eq!(start(root.path()).run().number, 3);
}

#[test]
fn a_dead_process_of_this_machine_is_not_waited_for() {
    let root = directory();
    drop(start(root.path()));
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("Linux");
    let dead = elsewhere().replace("another", boot.trim());
    leave_lock(root.path(), &dead, Duration::ZERO);
    assert_eq!(start(root.path()).run().number, 2);
}

#[test]
fn a_sign_of_life_is_seen_and_a_loss_is_noticed() {
    let root = directory();
    let job = start(root.path());
    let lock = root.path().join("lock");
    let old = SystemTime::now() - LOCK_TIMEOUT;
    File::options().write(true).open(&lock).expect("a file").set_modified(old).expect("a time");
    job.renew_lock().expect("its own");
    let time = fs::metadata(&lock).expect("there").modified().expect("a time");
    assert!(time > old + LOCK_TIMEOUT / 2);

    fs::write(&lock, elsewhere()).expect("room");
    let error = job.renew_lock().expect_err("taken over");
    assert!(error.to_string().contains(" was taken over by process 4711 on node17 "), "{error}");
    assert!(matches!(job.remove(), Err(Error::LockLost { .. })));
    // The lock file still names the new holder.
    assert_eq!(fs::read_to_string(&lock).expect("readable"), elsewhere());
    fs::remove_file(&lock).expect("there");
    let job = start(root.path());
    fs::remove_file(&lock).expect("there");
    assert!(matches!(job.renew_lock(), Err(Error::LockLost { holder: None, .. })));
}

//! Reports that replace files of other users, and reports that a file system cannot store.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Output;

use crate::common::{compile_preload, not_tested};
use crate::sandbox::{Sandbox, message};

/// Ids of a user without rights of its own, and of another user.
const USER: u32 = 4000;
const OTHER: u32 = 5000;
/// Exit code of a report that cannot be written.
const OUTPUT: i32 = 6;

/// Options with which searches publish their reports differently.
const WAYS: [&[&str]; 3] = [&[], &["-ranks", "2"], &["-checkpoint", "kept"]];

/// Makes an older report with this owner, group and mode.
fn older(path: &Path, owner: u32, group: u32, mode: u32) {
    fs::write(path, "an older report\n".repeat(1000)).expect("a file");
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
    chown(path, Some(owner), Some(group)).expect("an owner");
}

/// Returns owner, group and mode of a file.
fn access(path: &Path) -> (u32, u32, u32) {
    let file = fs::metadata(path).expect("a file");
    (file.uid(), file.gid(), file.mode() & 0o7777)
}

fn is_root() -> bool {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let is_root = chown(file.path(), Some(OTHER), None).is_ok();
    if !is_root {
        not_tested("reports of other users, as this user cannot make any");
    }
    is_root
}

/// Runs a search as [`USER`]; `None` where that user may not run the program.
fn run_as_user(sandbox: &Sandbox, arguments: &[&str]) -> Option<Output> {
    match sandbox.command(arguments).uid(USER).gid(USER).output() {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            not_tested("reports of other users, as they may not run the program");
            None
        }
        output => Some(output.expect("the program runs")),
    }
}

#[test]
fn a_replaced_report_keeps_its_owner_group_and_mode() {
    if !is_root() {
        return;
    }
    let sandbox = Sandbox::new();
    let expected = sandbox.run(&[]).stdout;
    for way in WAYS {
        older(&sandbox.path("report"), USER, OTHER, 0o640);
        let output = sandbox.run(&[way, &["-out", "report"]].concat());
        assert!(output.status.success(), "{}", message(&output));
        assert_eq!(access(&sandbox.path("report")), (USER, OTHER, 0o640), "{way:?}");
        assert!(fs::read(sandbox.path("report")).expect("a report") == expected, "{way:?}");
    }
}

#[test]
fn a_report_of_another_user_is_written_in_place() {
    if !is_root() {
        return;
    }
    let sandbox = Sandbox::new();
    let expected = sandbox.run(&[]).stdout;
    // Others may create files here, and remove only their own.
    fs::set_permissions(sandbox.path(""), Permissions::from_mode(0o1777)).expect("a mode");
    for way in WAYS {
        older(&sandbox.path("report"), OTHER, OTHER, 0o666);
        let Some(output) = run_as_user(&sandbox, &[way, &["-out", "report"]].concat()) else {
            return;
        };
        assert!(output.status.success(), "{way:?}: {}", message(&output));
        assert_eq!(access(&sandbox.path("report")), (OTHER, OTHER, 0o666), "{way:?}");
        assert!(fs::read(sandbox.path("report")).expect("a report") == expected, "{way:?}");
        assert!(!sandbox.names().iter().any(|name| name.ends_with(".part")), "{way:?}");
    }
}

#[test]
fn an_error_of_closing_leaves_the_older_report() {
    let sandbox = Sandbox::new();
    let library = sandbox.path("close.so");
    compile_preload("close_error.c", &library);
    for way in &WAYS[..2] {
        sandbox.write("report", "older\n");
        let mut command = sandbox.command(&[way, &["-out", "report"][..]].concat());
        command.env("LD_PRELOAD", &library).env("CLOSE_ERROR", ".part");
        let output = command.output().expect("the program runs");
        let text = message(&output);
        assert_eq!(output.status.code(), Some(OUTPUT), "{way:?}: {text}");
        assert!(text.contains("quota"), "{way:?}: {text}");
        assert_eq!(fs::read(sandbox.path("report")).expect("a report"), b"older\n", "{way:?}");
        assert!(!sandbox.names().iter().any(|name| name.ends_with(".part")), "{way:?}");
    }
}

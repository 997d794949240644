//! Files planted at the places where `receive` saves metadata.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};

use super::sites::*;

/// Runs a receiver that must end at once; returns its messages.
fn run_refused_receiver(sites: &Sites) -> String {
    let words = ["receive", "-listen", "127.0.0.1:0", "-out", "r", "-link_timeout", "2"];
    let link = ["-key", "io_site", "-peer", &sites.keys[SEARCH_SITE], "-db", "db"];
    let run = fleetblast(sites.path(), &[&words[..], &link].concat()).output().unwrap();
    assert_eq!(run.status.code(), Some(6), "{}", stderr_text(&run));
    stderr_text(&run)
}

#[test]
fn links_and_files_of_others_are_neither_followed_nor_filled() {
    let sites = Sites::new(1);
    let [spool, victim] = ["r.fbm", "victim"].map(|name| sites.path().join(name));
    for is_there in [false, true] {
        if is_there {
            fs::write(&victim, "").unwrap();
        }
        symlink("victim", &spool).unwrap();
        let message = run_refused_receiver(&sites);
        assert!(
            message.contains("r.fbm: this is a link, to which nothing is written"),
            "{message}"
        );
        assert_eq!(victim.exists(), is_there);
        assert!(spool.is_symlink(), "it is left");
        fs::remove_file(&spool).unwrap();
    }
    fs::write(&spool, "").unwrap();
    fs::set_permissions(&spool, Permissions::from_mode(0o666)).unwrap();
    let message = run_refused_receiver(&sites);
    assert!(message.contains("r.fbm: this is a file that others may write"), "{message}");
    fs::set_permissions(&spool, Permissions::from_mode(0o600)).unwrap();
    // Only the superuser can give files away.
    if chown(&spool, Some(65_534), None).is_ok() {
        let message = run_refused_receiver(&sites);
        assert!(message.contains("this is a file of another user (number 65534)"), "{message}");
    }
    assert_eq!(fs::metadata(&spool).unwrap().len(), 0);
}

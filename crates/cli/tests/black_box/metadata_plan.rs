//! The size of metadata that a plan predicts, compared with the metadata that the search then
//! writes.

use std::fs;

use crate::metadata_ranks::{
    BLASTN, BLASTP, KINDS, bases, fleetblast, must, proteins, stderr_text,
};

/// Parses a number of bytes with its unit.
fn bytes(text: &str) -> f64 {
    let (number, unit) = text.split_once(' ').unwrap();
    let unit = match unit {
        "B" => 1.0,
        "kB" => 1e3,
        _ => 1e6,
    };
    number.parse::<f64>().unwrap() * unit
}

/// Returns the bytes that a plan predicts for the encoding of this name.
fn predicted_bytes(plan: &str, name: &str) -> f64 {
    let line = plan.lines().find(|line| line.trim_start().starts_with(name)).expect(plan);
    bytes(line[28..40].trim())
}

#[test]
fn what_is_expected_is_about_what_comes() {
    let (few, many) = (proteins(40), bases(150));
    for (dir, words, shape) in [(&few, &BLASTP, "-ranks=2"), (&many, &BLASTN, "-ranks=1")] {
        let dir = dir.path();
        let search = |options: &[&str]| fleetblast(dir, &[&words[..], options].concat());
        let names = || fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        let before: Vec<_> = names().collect();
        let options = ["-metadata_out", "m", "-plan", shape];
        let plan = String::from_utf8(must(search(&options))).unwrap();
        assert!(plan.contains("metadata ") && plan.contains("hits (-metadata)"), "{plan}");
        let after: Vec<_> = names().collect();
        assert_eq!(before, after, "a plan writes nothing");
        let report = must(search(&[])).len() as f64;
        let near = |expected: f64, got: f64| (0.5..2.0).contains(&(expected / got));
        assert!(near(predicted_bytes(&plan, "directly"), report), "{report}: {plan}");
        for kind in KINDS {
            must(search(&["-metadata_out", "m", "-metadata", kind]));
            let got = fs::read(dir.join("m")).unwrap().len() as f64;
            fs::remove_file(dir.join("m")).unwrap();
            assert!(near(predicted_bytes(&plan, kind), got), "{kind}, {got}: {plan}");
        }
    }
}

/// Returns whether a plan is estimated from all ten queries. A busy machine may search fewer of
/// them in two seconds, the limit for a plan.
fn is_by_ten(plan: &str) -> bool {
    let line = plan.lines().find(|line| line.starts_with("metadata ")).expect(plan);
    let seconds = line.strip_suffix(" s").and_then(|line| line.rsplit(' ').next()).expect(plan);
    let is_cut = seconds.parse::<f64>().expect(plan) > 2.0;
    line.contains("by 10 of 10 queries") || is_cut && line.contains(" of 10 queries")
}

#[test]
fn every_way_to_another_site_has_a_plan() {
    let dir = proteins(10);
    let dir = dir.path();
    let key = String::from_utf8(must(fleetblast(dir, &["keygen", "key"]))).unwrap();
    let link = ["-send", "nowhere.invalid:1", "-key", "key", "-peer", key.trim()];
    let ways: [&[&str]; 3] =
        [&link, &["-ranks", "3", "-io_ranks", "1", "-out", "r"], &["-metadata_out", "-"]];
    for way in ways {
        let run = fleetblast(dir, &[&BLASTP, &["-plan"][..], way].concat()).output().unwrap();
        let plan = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "{}", stderr_text(&run));
        assert!(is_by_ten(&plan), "{plan}");
        let how =
            if way[0] == "-metadata_out" { "one after the other" } else { "at the same time" };
        assert!(plan.contains(how), "{plan}");
        assert!(!dir.join("r").exists());
    }
    // If ranks predict batches, the encoding `oids` is impossible: hits do not follow from the
    // subjects alone.
    let many = bases(20);
    let words = [&BLASTN[..], &["-plan", "-ranks", "2", "-metadata_out", "m"]].concat();
    let plan = String::from_utf8(must(fleetblast(many.path(), &words))).unwrap();
    let oids = plan.lines().find(|line| line.trim_start().starts_with("oids")).unwrap();
    assert!(oids.ends_with("as hits"), "{plan}");
    #[cfg(feature = "mpi")]
    {
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_fleetblast"));
        let mut command = crate::launched::launched(program, 3);
        command.args(BLASTP).args(["-plan", "-io_ranks", "1", "-out", "r"]).current_dir(dir);
        command.stdin(std::process::Stdio::null());
        let plan = String::from_utf8(must(command)).unwrap();
        assert!(is_by_ten(&plan) && !dir.join("r").exists(), "{plan}");
    }
}

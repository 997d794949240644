//! Volumes whose LMDB file has other names for them. Searches and `blastdbcmd` use the sequences
//! that BLAST+ 2.12.0 uses.

use std::fs;

use crate::common::Fixture;

const LETTERS: &str = "MKVLAADTGHIWKRNSEPFYQCVTLAGGHE";

/// Names for `-db`, the exit codes of `blastp` and of `blastdbcmd -info`, and the number of
/// sequences that `blastdbcmd -entry all` shows. `c` and `zz` are copies of the volumes of `d`.
const NAMES: [(&str, i32, i32, usize); 9] = [
    ("d.00 d.01", 0, 0, 4),
    ("d.01 d.00", 0, 0, 4),
    // The first volume is unknown.
    ("zz.01", 2, 2, 0),
    ("c.00 d.01", 2, 2, 0),
    // Volumes are in the order of their names.
    ("d.00 c.00", 2, 2, 0),
    // blastp opens each name by itself for the report.
    ("d.00 zz.01", 2, 0, 4),
    ("d.00 d.01 zz.01", 2, 2, 0),
    ("d.00 d.00", 0, 0, 2),
    ("d", 0, 0, 4),
];

fn directory() -> Fixture {
    let fixture = Fixture::new();
    let write = |name: &str, text: String| fs::write(fixture.path().join(name), text).unwrap();
    let subject = |i: usize| format!(">s{i} t\n{LETTERS}{LETTERS}{}\n", &LETTERS[i..]);
    write("d.fa", (0..4).map(subject).collect());
    write("q.fa", format!(">q\n{LETTERS}\n"));
    let made = "-in|d.fa|-dbtype|prot|-parse_seqids|-max_file_sz|200|-out|d";
    let made = fixture.run(&fixture.called("makeblastdb"), &Fixture::words(made), &[]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for (name, copy) in [("d.00", "c.00"), ("d.01", "zz.01")] {
        for extension in ["pin", "phr", "psq", "pog"] {
            let path = |name: &str| fixture.path().join(format!("{name}.{extension}"));
            fs::copy(path(name), path(copy)).unwrap();
        }
    }
    assert!(!fixture.path().join("d.02.pin").exists(), "two volumes");
    fixture
}

#[test]
fn an_unknown_volume_is_refused_where_it_is_the_first_one() {
    let fixture = directory();
    let oracle = fixture.oracle.map(|oracle| move |name: &str| oracle.program(name));
    let own = |name: &str| fixture.called(name);
    let lines = |program: &dyn Fn(&str) -> std::path::PathBuf, names: &str| {
        let run = |name: &str, words: &str| {
            let words = Fixture::words(&format!("{words}|-db|{names}"));
            fixture.run(&program(name), &words, &[])
        };
        let searched = run("blastp", "-query|q.fa|-outfmt|6");
        let info = run("blastdbcmd", "-dbtype|prot|-info");
        let all = run("blastdbcmd", "-dbtype|prot|-entry|all|-outfmt|%o %a %i %T %s");
        let report = [searched.stdout, info.stdout, all.stdout.clone()].concat();
        let shown = all.stdout.iter().filter(|&&byte| byte == b'\n').count();
        (searched.status.code(), info.status.code(), shown, report)
    };
    for (names, search, info, shown) in NAMES {
        let ours = lines(&own, names);
        let expected = (Some(search), Some(info), shown);
        assert_eq!((ours.0, ours.1, ours.2), expected, "{names}");
        if let Some(oracle) = &oracle {
            assert!(ours == lines(oracle, names), "{names}: {:?}", lines(oracle, names));
        }
    }
}

//! Damage to any file of a database. A search, a look-up or a check gives the output of the sound
//! database, or ends with a message that names the database. It never gives other output.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use fleetblast_oracle::seed;
use tempfile::TempDir;

use fastrand::Rng;

/// Largest number of trials for each database.
const TRIALS: u64 = 4000;
/// Time limit of each test. Every commit has its own random trials.
const TIME: Duration = Duration::from_secs(4);
/// Number of sequences in a database.
const SEQUENCES: usize = 150;
/// Fields of the report that do not come from headers: a changed letter of a name cannot be
/// detected.
const FIELDS: &str = "6 qseqid qstart qend sstart send score evalue";
/// Exit codes of runs that end with a message.
const REFUSED: [i32; 3] = [1, 2, 255];

/// A database and the commands that read it.
struct Bench {
    dir: TempDir,
    questions: Vec<Vec<&'static str>>,
    answers: Vec<Output>,
    sound: BTreeMap<String, Vec<u8>>,
}

impl Bench {
    fn new(version: &'static str, questions: &[&'static str]) -> Self {
        let mut bench = Self {
            dir: tempfile::tempdir().expect("a temporary directory"),
            questions: questions.iter().map(|line| line.split(' ').collect()).collect(),
            answers: Vec::new(),
            sound: BTreeMap::new(),
        };
        bench.write_inputs();
        let line = "makeblastdb -in in.fa -dbtype prot -parse_seqids -out made/db -taxid_map map";
        let arguments: Vec<&str> = line.split(' ').chain(["-blastdb_version", version]).collect();
        let made = bench.run(&arguments);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        for entry in fs::read_dir(bench.path("made")).expect("the database") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            bench.sound.insert(name, fs::read(path).expect("a file"));
        }
        for question in &bench.questions {
            let answer = bench.run(question);
            let said = String::from_utf8_lossy(&answer.stderr).into_owned();
            assert!(answer.status.success() && !answer.stdout.is_empty(), "{question:?}: {said}");
            bench.answers.push(answer);
        }
        bench
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file");
    }

    /// Writes similar sequences, so that one query finds them all, and lists of their identifiers,
    /// GIs and taxids.
    fn write_inputs(&self) {
        let mut random = Rng::with_seed(1);
        let letters: Vec<char> = "ACDEFGHIKLMNPQRSTVWY".chars().collect();
        let parent: Vec<char> = (0..90).map(|_| letters[random.usize(..20)]).collect();
        let (mut fasta, mut map) = (String::new(), String::new());
        let (mut ids, mut gis) = (String::new(), String::new());
        for n in 0..SEQUENCES {
            let mut child = parent.clone();
            for _ in 0..4 + n % 20 {
                child[random.usize(..90)] = letters[random.usize(..20)];
            }
            let child: String = child.into_iter().take(60 + n % 31).collect();
            let id = ["P4", "Q7", "A0"][n % 3];
            fasta += &format!(
                ">gi|{}|sp|{id}{:04}.2|NAME_{n} title {n}\n{child}\n",
                7000 + 3 * n,
                7 * n
            );
            map += &format!(
                "{id}{:04} {}\n",
                7 * n,
                [9606, 10090, 562, 4932, 7227][n % 5] + n as u32 / 50
            );
            if n % 4 == 1 {
                ids += &format!("{id}{:04}.2\n", 7 * n);
                gis += &format!("{}\n", 7000 + 3 * n);
            }
        }
        self.write("in.fa", &fasta);
        self.write("map", &map);
        self.write("ids", &ids);
        self.write("gis", &gis);
        self.write("q.fa", &format!(">q\n{}\n", parent.iter().collect::<String>()));
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
        command.args(words).current_dir(self.dir.path()).stdin(Stdio::null());
        if words[0] == "blastp" {
            let more = ["-query", "q.fa", "-db", "made/db", "-num_threads", "1", "-outfmt", FIELDS];
            command.args(more).args(["-max_target_seqs", "1000"]);
        }
        command.output().expect("the program runs")
    }

    /// Runs all commands on the database with one damaged file; `how` describes the damage. Adds
    /// the number of refusals to `refused`.
    fn ask(&self, name: &str, bytes: &[u8], how: &str, refused: &mut usize) {
        fs::write(self.path("made").join(name), bytes).expect("a file");
        for (question, answer) in self.questions.iter().zip(&self.answers) {
            let found = self.run(question);
            let said = String::from_utf8_lossy(&found.stderr);
            let code = found.status.code();
            let trial = format!("{name} {how}, {question:?}: {code:?} {said}");
            if question[0] == "dbcheck" {
                assert!(matches!(code, Some(0 | 2)), "{trial}");
            } else if code == Some(0) {
                assert!(found.stdout == answer.stdout, "{trial}");
            }
            if code != Some(0) {
                assert!(code.is_some_and(|code| REFUSED.contains(&code)), "{trial}");
                // BLAST+'s messages about missing tables name no file.
                let words = ["made/db", "mdb_env_open", "DB contains no"];
                assert!(words.iter().any(|word| said.contains(word)), "{trial}");
                *refused += 1;
            }
        }
        fs::write(self.path("made").join(name), &self.sound[name]).expect("a file");
    }

    fn attack(&self) {
        let seed = seed();
        let start = Instant::now();
        let (mut trials, mut refused) = (0, 0);
        let names: Vec<&String> = self.sound.keys().collect();
        let least = names.len() as u64;
        for trial in (0..TRIALS).take_while(|&n| n < least || start.elapsed() < TIME) {
            // The trials damage every file in turn.
            let name = names[trial as usize % names.len()];
            let mut random = Rng::with_seed(seed << 32 | trial);
            let mut bytes = self.sound[name].clone();
            let how = damage(name, &mut bytes, &mut random);
            if bytes != self.sound[name] {
                self.ask(
                    name,
                    &bytes,
                    &format!("{how} (seed {seed}, trial {trial})"),
                    &mut refused,
                );
                trials += 1;
            }
        }
        eprintln!("{trials} databases, {refused} messages");
        assert!(trials > 5 && refused > 5, "{trials} databases, {refused} messages");
    }
}

/// Damages the bytes of a file at random. Returns a description of the damage.
fn damage(name: &str, bytes: &mut Vec<u8>, random: &mut Rng) -> String {
    let at = random.usize(..bytes.len());
    let end = bytes.len().min(at + random.usize(1..=40));
    // A residue that becomes another one, or a gap, cannot be detected.
    let is_residues = Path::new(name).extension().is_some_and(|extension| extension == "psq");
    match random.usize(..if is_residues { 2 } else { 6 }) {
        0 => {
            bytes.truncate(at);
            format!("cut at {at}")
        }
        1 => {
            bytes[at..end].fill(0xff);
            format!("{at}..{end} set")
        }
        2 => {
            bytes[at..].fill(0);
            format!("zeros from {at} on")
        }
        3 => {
            bytes[at..end].fill(0);
            format!("zeros in {at}..{end}")
        }
        4 => {
            bytes[at] ^= 1 << random.usize(..8);
            format!("a bit at {at}")
        }
        _ => {
            bytes[at] = random.u8(..);
            format!("a byte at {at}")
        }
    }
}

#[test]
fn version_5() {
    let bench = Bench::new(
        "5",
        &[
            "blastp",
            "blastp -taxids 9606,4934,77",
            "blastp -negative_taxids 9606,10090",
            "blastp -seqidlist ids",
            "blastp -negative_seqidlist ids",
            "blastp -gilist gis",
            "blastp -negative_gilist gis",
            "blastdbcmd -db made/db -entry_batch ids -outfmt %o",
            "blastdbcmd -db made/db -taxids 562 -outfmt %o",
            "dbcheck -db made/db",
        ],
    );
    bench.attack();
}

#[test]
fn version_4() {
    let bench = Bench::new(
        "4",
        &[
            "blastp",
            "blastp -seqidlist ids",
            "blastp -negative_seqidlist ids",
            "blastp -gilist gis",
            "blastp -negative_gilist gis",
            "blastdbcmd -db made/db -entry_batch ids -outfmt %o",
            "dbcheck -db made/db",
        ],
    );
    bench.attack();
}

/// An index with erased fields states that there are no sequences. A search must refuse it, not
/// report no hits.
#[test]
fn an_index_erased_from_its_title_on() {
    for version in ["4", "5"] {
        let bench = Bench::new(version, &["blastp", "dbcheck -db made/db"]);
        let mut refused = 0;
        for at in (16..100).step_by(4) {
            let mut bytes = bench.sound["db.pin"].clone();
            bytes[at..].fill(0);
            bench.ask("db.pin", &bytes, &format!("zeros from {at} on"), &mut refused);
        }
        assert!(refused >= 42, "{refused} messages for version {version}");
    }
}

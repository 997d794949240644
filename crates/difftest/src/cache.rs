//! Stores results of the oracle between runs, because BLAST+ takes most of the time of a
//! differential test.
//!
//! A key depends on the oracle's version, the arguments, and every input that they name. A result
//! of other inputs is therefore never found. A damaged entry is ignored and replaced.

use std::fs;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::error::{Result, io_error, write};
use crate::process::Outcome;

/// A directory with the results of finished runs of the oracle.
#[derive(Debug)]
pub struct Cache {
    dir: PathBuf,
    version: String,
}

impl Cache {
    /// Opens the cache in `dir` for this version of the oracle. Creates the directory if needed.
    pub fn open(dir: PathBuf, version: String) -> Result<Self> {
        fs::create_dir_all(&dir).map_err(io_error("create", &dir))?;
        Ok(Cache { dir, version })
    }

    /// Returns the key of a search. `inputs` are the contents, or build stamps, of the files that
    /// it reads.
    pub fn key(&self, args: &[String], inputs: &[Vec<u8>]) -> String {
        let mut hash = Xxh3::new();
        let texts = args.iter().map(String::as_bytes).chain(inputs.iter().map(Vec::as_slice));
        for part in std::iter::once(self.version.as_bytes()).chain(texts) {
            // The length keeps ["ab", "c"] and ["a", "bc"] apart.
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        format!("{:032x}", hash.digest128())
    }

    fn path(&self, key: &str) -> PathBuf {
        self.dir.join(key)
    }

    /// Returns the stored result of a key; `None` if there is none or it is damaged.
    pub fn get(&self, key: &str) -> Option<Outcome> {
        decode(&fs::read(self.path(key)).ok()?)
    }

    /// Stores a result. The file is renamed when it is complete, so an interrupted run leaves no
    /// partial entry.
    pub fn put(&self, key: &str, outcome: &Outcome) -> Result<()> {
        let part = self.path(&format!("{key}.part"));
        write(&part, encode(outcome))?;
        fs::rename(&part, self.path(key)).map_err(io_error("rename", &part))
    }
}

/// Encodes an entry: a line `code CPU-seconds stdout-length stderr-length hash`, then the two
/// streams.
fn encode(outcome: &Outcome) -> Vec<u8> {
    let body = [&outcome.stdout[..], &outcome.stderr[..]].concat();
    let hash = xxhash_rust::xxh3::xxh3_64(&body);
    let (out, err) = (outcome.stdout.len(), outcome.stderr.len());
    let mut bytes =
        format!("{} {:.3} {out} {err} {hash:016x}\n", outcome.code, outcome.cpu).into_bytes();
    bytes.extend(body);
    bytes
}

fn decode(bytes: &[u8]) -> Option<Outcome> {
    let end = bytes.iter().position(|&b| b == b'\n')?;
    let (head, body) = (std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 1..]);
    let mut fields = head.split(' ');
    let code = fields.next()?.parse().ok()?;
    let cpu = fields.next()?.parse().ok()?;
    let out: usize = fields.next()?.parse().ok()?;
    let err: usize = fields.next()?.parse().ok()?;
    let hash = u64::from_str_radix(fields.next()?, 16).ok()?;
    if body.len() != out.checked_add(err)? || xxhash_rust::xxh3::xxh3_64(body) != hash {
        return None;
    }
    let (stdout, stderr) = (body[..out].to_vec(), body[out..].to_vec());
    Some(Outcome { stdout, stderr, code, cpu, timed_out: false })
}

/// Returns the contents of the files (queries, lists, patterns, matrices) that the arguments name,
/// and the build stamps of the databases.
pub fn inputs_of(args: &[String], stdin: Option<&str>, dir: &Path) -> Vec<Vec<u8>> {
    // BLASTDB names the directory of the taxonomy databases.
    let taxa =
        ["taxdb.bti", "taxdb.btd", "taxonomy4blast.sqlite3"].map(|file| format!("db/{file}"));
    let taxa = taxa.iter().filter(|_| args.iter().any(|word| word == "BLASTDB=db"));
    let words = args.iter().chain(taxa).flat_map(|a| a.split(' ')).chain(stdin);
    let named = words.filter(|word| word.starts_with("db/") || word.starts_with("q/"));
    let files = named.flat_map(|word| [dir.join(word), dir.join(format!("{word}.stamp"))]);
    // For each word one of the two files is usually missing, in error cases both. A missing file
    // counts as an empty one.
    let mut inputs: Vec<Vec<u8>> = files.map(|file| fs::read(file).unwrap_or_default()).collect();
    let stored = inputs.iter().filter_map(|input| stored_database(input));
    let stamps: Vec<_> = stored.map(|name| dir.join(format!("{name}.stamp"))).collect();
    inputs.extend(stamps.iter().filter_map(|stamp| fs::read(stamp).ok()));
    inputs
}

/// Returns the database that a search strategy searches.
fn stored_database(input: &[u8]) -> Option<&str> {
    const START: &str = "database \"";
    let text = str::from_utf8(input).ok().filter(|text| text.starts_with("Blast4-request"))?;
    text[text.find(START)? + START.len()..].split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome() -> Outcome {
        let (stdout, stderr) = (b"a\nb".to_vec(), b"w\n".to_vec());
        Outcome { stdout, stderr, code: -6, cpu: 1.25, timed_out: false }
    }

    #[test]
    fn results_survive_and_damage_is_seen() {
        let bytes = encode(&outcome());
        let (same, read) = (outcome(), decode(&bytes).unwrap());
        assert_eq!((read.stdout, read.stderr), (same.stdout, same.stderr));
        assert_eq!((read.code, read.cpu), (same.code, same.cpu));
        let mut bad = bytes.clone();
        *bad.last_mut().unwrap() ^= 1;
        assert!(decode(&bad).is_none());
        assert!(decode(&bytes[..bytes.len() - 1]).is_none());
        assert!(decode(b"").is_none());
    }

    #[test]
    fn named_files_and_stamps_of_databases_are_inputs() {
        let dir = std::env::temp_dir().join(format!("difftest-inputs-{}", std::process::id()));
        for directory in ["db", "q"] {
            fs::create_dir_all(dir.join(directory)).unwrap();
        }
        let strategy = "Blast4-request ::= {\n database \"db/other\"\n";
        let files = [
            ("db/pattern", "PA A\n"),
            ("db/part.stamp", "made"),
            ("q/one", ">a\n"),
            ("db/strategy", strategy),
            ("db/other.stamp", "made, too"),
        ];
        for (name, text) in files {
            fs::write(dir.join(name), text).unwrap();
        }
        let args = "-db db/part -query q/one -phi_pattern db/pattern -in_pssm db/missing \
                    -import_search_strategy db/strategy";
        let args: Vec<String> = args.split(' ').map(str::to_owned).collect();
        let inputs: Vec<Vec<u8>> = inputs_of(&args, None, &dir);
        let texts = inputs.iter().filter(|text| !text.is_empty());
        let texts: Vec<&str> = texts.map(|text| str::from_utf8(text).unwrap()).collect();
        assert_eq!(texts, ["made", ">a\n", "PA A\n", strategy, "made, too"]);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn keys_depend_on_arguments_inputs_and_version() {
        let cache = |v: &str| Cache { dir: PathBuf::new(), version: v.to_string() };
        let args = |a: &[&str]| a.iter().map(|s| s.to_string()).collect::<Vec<_>>();
        let key = cache("1").key(&args(&["ab", "c"]), &[b"x".to_vec()]);
        assert_eq!(key, cache("1").key(&args(&["ab", "c"]), &[b"x".to_vec()]));
        assert_ne!(key, cache("1").key(&args(&["a", "bc"]), &[b"x".to_vec()]));
        assert_ne!(key, cache("1").key(&args(&["ab", "c"]), &[b"y".to_vec()]));
        assert_ne!(key, cache("2").key(&args(&["ab", "c"]), &[b"x".to_vec()]));
    }
}

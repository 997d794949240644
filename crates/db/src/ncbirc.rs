//! Settings of NCBI's configuration file.

/// The value of `key` in `[section]`, both compared without case; the last one wins.
///
/// Lines starting with `;` or `#` are comments; blanks around the value and one pair of double
/// quotes are dropped; a backslash at the end of a line continues it (ncbireg.cpp).
pub(crate) fn value(file: &[u8], section: &str, key: &str) -> Option<Vec<u8>> {
    let mut inside = false;
    let mut found = None;
    for line in logical_lines(file) {
        let line = line.trim_ascii();
        match line.first() {
            None | Some(b';' | b'#') => {}
            Some(b'[') => {
                let name = line[1..].split(|&b| b == b']').next().unwrap_or_default();
                inside = name.trim_ascii().eq_ignore_ascii_case(section.as_bytes());
            }
            Some(_) if inside => {
                if let Some(at) = line.iter().position(|&b| b == b'=')
                    && line[..at].trim_ascii().eq_ignore_ascii_case(key.as_bytes())
                {
                    found = Some(unquote(line[at + 1..].trim_ascii()).to_vec());
                }
            }
            Some(_) => {}
        }
    }
    found
}

/// Lines, joined by a line feed where one ends with a backslash.
fn logical_lines(file: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut open = false;
    for line in file.split(|&b| b == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (line, continued) = match line.strip_suffix(b"\\") {
            Some(rest) => (rest, true),
            None => (line, false),
        };
        match lines.last_mut() {
            Some(last) if open => {
                last.push(b'\n');
                last.extend_from_slice(line);
            }
            _ => lines.push(line.to_vec()),
        }
        open = continued;
    }
    lines
}

fn unquote(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"\"").and_then(|v| v.strip_suffix(b"\"")).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    fn blastdb(file: &str) -> Option<String> {
        super::value(file.as_bytes(), "BLAST", "BLASTDB")
            .map(|v| String::from_utf8_lossy(&v).into_owned())
    }

    /// Each seen in the search path of `blastp -db nodb` with this text as `./.ncbirc`.
    #[test]
    fn values_are_read_as_the_oracle_reads_them() {
        assert_eq!(blastdb("[BLAST]\nBLASTDB=/a\nBLASTDB=/b\n").as_deref(), Some("/b"));
        assert_eq!(blastdb("[blast]\nblastdb = \"/q q\"  \n").as_deref(), Some("/q q"));
        let other = ";c\n[OTHER]\nBLASTDB=/x\n[BLAST]\n  BLASTDB = /y z  \n#\n";
        assert_eq!(blastdb(other).as_deref(), Some("/y z"));
        assert_eq!(blastdb("[BLAST]\nBLASTDB=/a\nBLASTDB=\n").as_deref(), Some(""));
        assert_eq!(blastdb("[BLAST]\nBLASTDB=/a;/b\n").as_deref(), Some("/a;/b"));
        assert_eq!(blastdb("[BLAST]\nBLASTDB=/a/b\\\n/c\n").as_deref(), Some("/a/b\n/c"));
        assert_eq!(blastdb("BLASTDB=/a"), None);
    }
}

//! Values of the options `-loader` and `-memory`: how to load a database into memory.

use std::ffi::OsStr;

use fleetblast_db::load::{LoadMethod, LoaderRequest};
use fleetblast_job::error::{Error, exit};

use crate::options::search::resources::MEMORY;
use crate::options::typed::to_text;

/// Builds the request that `-loader` and `-memory` express.
pub fn loader_request(
    method: Option<LoadMethod>,
    memory: Option<&OsStr>,
) -> Result<LoaderRequest, Error> {
    let memory = memory.map(|text| bytes(MEMORY.name(), text));
    Ok(LoaderRequest { method, memory_limit: memory.transpose()? })
}

/// Parses the size in bytes that the option `name` gives.
pub fn bytes(name: &str, text: &OsStr) -> Result<u64, Error> {
    let text = to_text(text);
    size(&text).ok_or_else(|| {
        Error::new(
            exit::INPUT,
            format!(
                "Error: -{name} needs a number of bytes, such as 500000000, 500M or 1.5G \
                 (powers of 1000) or 512MiB (powers of 1024), not '{text}'"
            ),
        )
    })
}

/// Parses a size of at least one byte: `1500`, `500M`, `500MB`, `1.5G`, `512MiB`.
pub fn size(text: &str) -> Option<u64> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let (letter, base) = match unit.to_ascii_lowercase().strip_suffix("ib") {
        Some(letter) => (letter.to_owned(), 1024u64),
        None => (unit.to_ascii_lowercase().trim_end_matches('b').to_owned(), 1000),
    };
    let power = match letter.as_str() {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * base.pow(power) as f64;
    (1.0..u64::MAX as f64).contains(&bytes).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let known = [
            ("1500", 1500),
            ("500M", 500_000_000),
            ("5kb", 5_000),
            ("1.5G", 1_500_000_000),
            ("2MiB", 2 << 20),
            ("1T", 1_000_000_000_000),
        ];
        for (text, bytes) in known {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        for text in ["", "M", "0", "-5", "5X", "5 M", "1e3", "1.2.3", "9999999999T", "5Mi"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn wishes_have_a_size() {
        assert_eq!(loader_request(None, None).unwrap(), LoaderRequest::default());
        let direct = loader_request(Some(LoadMethod::Direct), Some("1K".as_ref())).unwrap();
        assert_eq!(
            direct,
            LoaderRequest { method: Some(LoadMethod::Direct), memory_limit: Some(1000) }
        );
        assert!(loader_request(None, Some("much".as_ref())).is_err());
    }
}

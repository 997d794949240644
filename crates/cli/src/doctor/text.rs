//! The measurements in human-readable form.

use super::measure::{Findings, Rates};

/// Formats bytes as `1.5 GB`.
pub fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        1e9.. => format!("{:.1} GB", bytes / 1e9),
        1e6.. => format!("{:.0} MB", bytes / 1e6),
        1e3.. => format!("{:.0} kB", bytes / 1e3),
        _ => format!("{bytes} bytes"),
    }
}

/// Formats a rate as `1234 MB/s`; a dash if it could not be measured.
pub fn rate(rate: Option<f64>) -> String {
    rate.map_or("-".to_owned(), |rate| match rate {
        1e6.. => format!("{:.0} MB/s", rate / 1e6),
        _ => format!("{:.0} kB/s", rate / 1e3),
    })
}

/// Formats seconds as `1.5 s`, and times below 0.1 s as `less than 0.1 s`.
pub fn time(seconds: f64) -> String {
    match seconds {
        0.1.. => format!("{seconds:.1} s"),
        _ => "less than 0.1 s".to_owned(),
    }
}

fn count(reads: Option<f64>) -> String {
    reads.map_or("-".to_owned(), |reads| format!("{reads:.0} a second"))
}

/// Formats the measurements, which are the first part of the report of `fleetblast doctor`.
pub fn describe(found: &Findings) -> String {
    let unknown = || "unknown".to_owned();
    let mut text = format!("Database {}\n", found.database);
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<28}{value}\n"));
    line("size", format!("{} ({} residues)", size(found.bytes), found.residues));
    let cached = found
        .cached_bytes
        .map(|cached| format!("{} ({:.0} %)", size(cached), percent(cached, found.bytes)));
    line("in the page cache", cached.unwrap_or_else(unknown));
    line("file system", format!("{} ({})", found.storage, found.file.display()));
    line("read-ahead", found.read_ahead_bytes.map_or_else(unknown, size));
    text.push_str(&format!("\nMeasured with {} of it\n", size(found.sample_bytes)));
    text.push_str(&table(&found.cold, &found.warm));
    if !found.evictable {
        text.push_str(
            "  (no cold figures: the file stays in the page cache, as it does while other programs\n   \
             map it)\n",
        );
    }
    let memory = &found.memory;
    text.push_str("\nThis machine\n");
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<28}{value}\n"));
    line("memory", memory.total_bytes.map_or_else(unknown, size));
    line("  available", memory.available_bytes.map_or_else(unknown, size));
    let word = |setting: &Option<String>| setting.clone().unwrap_or_else(unknown);
    line("huge pages", format!("a buffer got {}", memory.huge_pages_tried));
    line("  transparent", word(&memory.transparent_huge_pages));
    line("  shared memory", word(&memory.shared_huge_pages));
    let reserved = memory.reserved_huge_pages.map_or_else(unknown, |pages| pages.to_string());
    line("  reserved and free", reserved);
    line("threads", found.threads.to_string());
    text
}

fn table(cold: &Rates, warm: &Rates) -> String {
    let rows = [
        ("large reads", rate(cold.read), rate(warm.read)),
        ("  without the page cache", rate(cold.direct), String::new()),
        ("through a mapping, in order", rate(cold.mapped), rate(warm.mapped)),
        ("4 kB reads at random", count(cold.small_reads), count(warm.small_reads)),
        ("  through a mapping", count(cold.small_mapped), count(warm.small_mapped)),
    ];
    let mut text = format!("  {:<28}{:>18}{:>22}\n", "", "cold", "warm");
    for (name, cold, warm) in rows {
        text.push_str(format!("  {name:<28}{cold:>18}{warm:>22}").trim_end());
        text.push('\n');
    }
    text
}

/// Returns `part` as a percentage of `all`.
pub fn percent(part: u64, all: u64) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_rounded_to_nothing() {
        assert_eq!((time(0.0), time(0.0999)), ("less than 0.1 s".into(), "less than 0.1 s".into()));
        assert_eq!((time(0.1), time(12.34)), ("0.1 s".into(), "12.3 s".into()));
        assert_eq!((size(0), size(999)), ("0 bytes".into(), "999 bytes".into()));
        assert_eq!((size(1_000), size(2_500_000)), ("1 kB".into(), "2 MB".into()));
        assert_eq!((rate(Some(2e5)), rate(Some(1.5e9))), ("200 kB/s".into(), "1500 MB/s".into()));
        assert_eq!(rate(None), "-");
    }
}

//! Advice for searches, from the measurements.

use super::measure::Findings;
use super::text::{percent, rate, size, time};

/// Residues of a database that one core searches in a second with one query of ordinary length
/// (about 350 residues). Measured, see the record of performance; an order of magnitude only.
const SEARCH_RATE: f64 = 100e6;
/// Percentage of a database in the page cache that counts as all of it.
const WARM_PERCENT: f64 = 98.0;
/// Share of the rate of plain reads below which the read-ahead limits a mapping.
const MAPPED_SHARE: f64 = 0.6;
/// Fewest bytes from which to estimate the rate of the disk.
const ENOUGH: u64 = 1_000_000;
/// Rate in bytes per second below which the advice mentions the disk.
const SLOW_DISK: f64 = 150e6;

/// Formats the advice, which is the second part of the report of `fleetblast doctor`.
pub fn advise(found: &Findings) -> String {
    let mut text = String::from("\nWhat this means\n");
    for sentence in sentences(found) {
        text.push_str(&wrap_paragraph(&sentence));
    }
    text
}

fn sentences(found: &Findings) -> Vec<String> {
    let search = found.residues as f64 / SEARCH_RATE / found.threads as f64;
    let measured = [found.cold.read, found.cold.direct].into_iter().flatten();
    let best = measured.reduce(f64::max).filter(|_| found.sample_bytes >= ENOUGH);
    let load = best.map(|rate| found.bytes as f64 / rate);
    let warm = found.cached_bytes.is_some_and(|c| percent(c, found.bytes) >= WARM_PERCENT);
    let fits = found
        .memory
        .available_bytes
        .is_none_or(|memory| found.bytes <= memory.saturating_add(found.cached_bytes.unwrap_or(0)));
    let mut all = vec![bound(found, warm, fits, search, load)];
    all.extend(mapping(found, best));
    all.extend(slow(found, best));
    all.extend(huge_pages(found));
    all.push(format!(
        "Use '-num_threads {}' (all CPUs that the process may use), and '-loader {}' (what 'auto' chooses here: {}).",
        found.threads, found.choice, found.reason
    ));
    all
}

/// Describes the stage that takes the most time in a search with one query.
fn bound(found: &Findings, warm: bool, fits: bool, search: f64, load: Option<f64>) -> String {
    let searching = format!(
        "one query of ordinary length takes {} of searching on {} threads, very roughly",
        time(search),
        found.threads
    );
    match (warm, fits, load) {
        (true, _, _) => format!(
            "The database is in memory: a search is bound by the processors; {searching}. More threads, or fewer other \
             programs, make it faster; a faster disk does not."
        ),
        (false, true, Some(load)) if load > search => format!(
            "The database fits in memory, but is not there: the next search waits for the disk, {} to load \
             it ({searching}, meanwhile). Later searches find it in memory and are bound by the processors.",
            time(load)
        ),
        (false, true, _) => format!(
            "The database fits in memory, but is not there yet: it is loaded while the next search runs, which is bound \
             by the processors all the same; {searching}."
        ),
        (false, false, load) => format!(
            "The database ({}) does not fit in the memory available ({}): every block of queries reads all of it{}; \
             {searching}. Search many queries in one run, use a machine with more memory, or distribute the database over several.",
            size(found.bytes),
            found.memory.available_bytes.map_or("unknown".to_owned(), size),
            load.map_or(String::new(), |load| format!(", {} each time", time(load))),
        ),
    }
}

/// Describes the rate of programs that only map their database, if the read-ahead limits it.
fn mapping(found: &Findings, best: Option<f64>) -> Option<String> {
    let (mapped, best) = (found.cold.mapped?, best?);
    let ahead = found.read_ahead_bytes.map_or("unknown".to_owned(), size);
    (mapped < MAPPED_SHARE * best).then(|| {
        format!(
            "Paging the database in through a mapping, as NCBI BLAST+ does, gets {} of the {} that reads get: it is \
             bound by the read-ahead ({ahead}), not by the disk. FleetBLAST reads what it maps before it searches and \
             is not concerned; for other programs, raise the read-ahead of the device (read_ahead_kb).",
            rate(Some(mapped)),
            rate(Some(best)),
        )
    })
}

fn slow(found: &Findings, best: Option<f64>) -> Option<String> {
    let best = best.filter(|&best| best < SLOW_DISK)?;
    let instead = match found.storage {
        "network" => "A copy of the database on a disk of this machine may be faster.",
        _ => {
            "A faster disk, or enough memory to keep the database there, would help every first search."
        }
    };
    Some(format!("The storage is slow ({}). {instead}", rate(Some(best))))
}

fn huge_pages(found: &Findings) -> Option<String> {
    let memory = &found.memory;
    (memory.huge_pages_tried == "4 kB pages").then(|| {
        "There are no huge pages to be had. '-loader read' would use them: \
         echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (as root) allows them."
            .to_owned()
    })
}

/// Formats a paragraph with a dash before it, at most 100 columns wide.
fn wrap_paragraph(sentence: &str) -> String {
    let mut text = String::from("  -");
    let mut column = text.len();
    for word in sentence.split_whitespace() {
        if column + 1 + word.len() > 100 {
            text.push_str("\n   ");
            column = 3;
        }
        text.push(' ');
        text.push_str(word);
        column += 1 + word.chars().count();
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::measure::{Memory, Rates};
    use super::*;

    fn findings() -> Findings {
        Findings {
            database: "x".into(),
            residues: 2_000_000_000,
            bytes: 3_000_000_000,
            cached_bytes: Some(0),
            file: "x.psq".into(),
            sample_bytes: 256_000_000,
            storage: "local",
            read_ahead_bytes: Some(131_072),
            evictable: true,
            cold: Rates { read: Some(1e9), mapped: Some(0.9e9), ..Rates::default() },
            warm: Rates::default(),
            memory: Memory {
                total_bytes: Some(16_000_000_000),
                available_bytes: Some(8_000_000_000),
                transparent_huge_pages: Some("madvise".into()),
                shared_huge_pages: Some("never".into()),
                reserved_huge_pages: Some(0),
                huge_pages_tried: "transparent 2 MB pages",
            },
            threads: 8,
            choice: "map".into(),
            reason: "fits in memory".into(),
        }
    }

    fn advice(change: impl FnOnce(&mut Findings)) -> String {
        let mut found = findings();
        change(&mut found);
        advise(&found).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_bound_follows_from_cache_memory_and_rates() {
        // Loading 3 GB takes 3 s at 1 GB/s; searching takes 2.5 s.
        assert!(advice(|_| {}).contains("waits for the disk, 3.0 s"));
        assert!(
            advice(|f| f.cold.read = Some(2e9)).contains("bound by the processors all the same")
        );
        assert!(
            advice(|f| f.cached_bytes = Some(f.bytes)).contains("is in memory: a search is bound")
        );
        let large = advice(|f| f.memory.available_bytes = Some(1_000_000_000));
        assert!(large.contains("does not fit in the memory available (1.0 GB)"), "{large}");
    }

    #[test]
    fn a_small_database_takes_no_time_of_zero() {
        let small = |f: &mut Findings| (f.residues, f.bytes) = (20_000, 30_000);
        for text in [advice(small), advice(|f| (small(f), f.cached_bytes = Some(f.bytes)).1)] {
            assert!(text.contains("takes less than 0.1 s of searching"), "{text}");
            assert!(!text.contains("0.0 s"), "{text}");
        }
        let waiting = advice(|f| (f.residues, f.bytes, f.threads) = (1_000, 40_000_000, 1));
        assert!(waiting.contains("waits for the disk, less than 0.1 s to load"), "{waiting}");
    }

    #[test]
    fn what_is_slow_is_named() {
        let mapped = advice(|f| f.cold.mapped = Some(0.2e9));
        assert!(mapped.contains("gets 200 MB/s of the 1000 MB/s that reads get"), "{mapped}");
        assert!(!advice(|_| {}).contains("read-ahead"));
        let slow = advice(|f| {
            f.cold.read = Some(50e6);
            f.storage = "network";
        });
        assert!(slow.contains("The storage is slow (50 MB/s). A copy"), "{slow}");
        let few = advice(|f| (f.cold.read, f.sample_bytes) = (Some(50e3), 40));
        assert!(!few.contains("The storage is slow"), "{few}");
        assert!(advice(|f| f.memory.huge_pages_tried = "4 kB pages").contains("no huge pages"));
    }
}

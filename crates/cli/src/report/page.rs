//! The page of `fleetblast report`: one self-contained HTML file.

use fleetblast_job::trace::{Kind, RESULT_MEMORY, WAITING_OUTPUT_BYTES, WAITING_TASKS};

use super::charts;
use super::figures::{Figures, ThreadUse};
use super::svg::escape;
use super::text::{bytes, count, percent, pluralize, seconds};
use super::verdict::Verdict;

const STYLE: &str = include_str!("style.css");
/// Number of tasks in the list of the last tasks.
const LAST_TASKS: usize = 8;
/// Largest number of ranks in the list of the figures of every rank.
const MOST_RANKS: usize = 512;
/// Time that the chart of the tail shows before the tail, as a share of the tail's length.
const BEFORE_TAIL: f64 = 0.5;

/// Makes the page.
pub fn page(figures: &Figures) -> String {
    let run = &figures.timeline.description;
    let title = format!("{} on {}", escape(&run.database), pluralize(run.ranks.into(), "rank"));
    let parts = [
        header(figures, &title),
        verdict(figures),
        cards(figures),
        where_time_went(figures),
        over_time(figures),
        by_rank(figures),
        tail(figures),
        tasks(figures),
        output(figures),
        all_ranks(figures),
        glossary(),
    ];
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{}\
         <footer>Made by fleetblast {} from a trace by {}.</footer>\n</main>\n</body>\n</html>\n",
        parts.concat(),
        env!("CARGO_PKG_VERSION"),
        escape(&run.made_by),
    )
}

fn section(title: &str, hint: &str, body: &str) -> String {
    format!("<section>\n<h2>{title}</h2>\n<p class=\"hint\">{hint}</p>\n{body}</section>\n")
}

fn header(figures: &Figures, title: &str) -> String {
    let run = &figures.timeline.description;
    format!(
        "<h1>{title}: where the time went</h1>\n<p class=\"sub\">{} in {} with {} each; {} in {}; output {}, schedule {}</p>\n",
        pluralize(run.ranks.into(), "rank"),
        if run.one_process { "one process" } else { "processes of their own" },
        pluralize(run.threads.into(), "search thread"),
        pluralize(run.partition_residues.len() as u64, "partition"),
        pluralize(run.groups.into(), "group"),
        format!("{:?}", run.output).to_lowercase(),
        format!("{:?}", run.schedule).to_lowercase(),
    )
}

fn verdict(figures: &Figures) -> String {
    let Verdict { search_summary, limit, remarks } = Verdict::new(figures);
    let remarks: String = remarks.iter().map(|remark| format!("<li>{remark}</li>")).collect();
    let remarks = if remarks.is_empty() { remarks } else { format!("<ul>{remarks}</ul>") };
    format!(
        "<section class=\"verdict\"><p>{search_summary}</p><p><b>{limit}</b></p>{remarks}</section>\n"
    )
}

fn cards(figures: &Figures) -> String {
    let run = &figures.timeline.description;
    let end = figures.timeline.end.max(1e-9);
    let cells: f64 = figures.tasks.iter().filter_map(|task| figures.cells(task)).sum();
    let busiest = figures.ranks.iter().map(|rank| rank.messages).max().unwrap_or(0);
    let cards = [
        (seconds(run.wall_seconds), "wall time, with start and end"),
        (count((run.query_residues as f64 / end) as u64), "query residues a second"),
        (format!("{:.1}", cells / end * 1e-9), "billion comparisons a second"),
        (percent(figures.utilisation()), "of search threads' time used"),
        (count(figures.tasks.len() as u64), "tasks"),
        (percent(figures.tail().lost), "lost at the end"),
        (format!("{:.1}", busiest as f64 / end), "messages a second, busiest rank"),
        (bytes(figures.output.bytes as f64), "report written"),
    ];
    let card = |(number, what): &(String, &str)| {
        format!("<div class=\"card\"><b>{number}</b><span>{what}</span></div>\n")
    };
    format!("<div class=\"cards\">\n{}</div>\n", cards.iter().map(card).collect::<String>())
}

fn legend(items: &[(&str, &str)]) -> String {
    let item = |(class, name): &(&str, &str)| {
        format!("<span><i style=\"background:var(--{class})\"></i>{name}</span>")
    };
    format!("<div class=\"legend\">{}</div>\n", items.iter().map(item).collect::<String>())
}

const SEARCH_LEGEND: [(&str, &str); 4] = [
    ("search", "searching"),
    ("align", "aligning hits"),
    ("format", "formatting the report"),
    ("load", "opening the database"),
];

fn where_time_went(figures: &Figures) -> String {
    let beside = |kind: Kind| -> f64 {
        figures.ranks.iter().filter_map(|rank| rank.seconds_outside_threads.get(&kind)).sum()
    };
    let hint = format!(
        "The time of all ranks' search threads. Beside the search, on other threads: reading queries {}, preparing them {}, merging {}, sending {}, \
         writing {}.",
        seconds(beside(Kind::Read)),
        seconds(beside(Kind::Prepare)),
        seconds(beside(Kind::Merge)),
        seconds(beside(Kind::Send)),
        seconds(beside(Kind::Write)),
    );
    let mut items = SEARCH_LEGEND.to_vec();
    items.push(("idle", "idle"));
    section("Where the time went", &hint, &(charts::shares(figures) + &legend(&items)))
}

fn over_time(figures: &Figures) -> String {
    let hint = "The number of ranks at each stage. Gaps are lost time.";
    section("Ranks at work", hint, &(charts::utilisation(figures) + &legend(&SEARCH_LEGEND)))
}

fn by_rank(figures: &Figures) -> String {
    let mut items = SEARCH_LEGEND.to_vec();
    items.extend([
        ("idle", "idle"),
        ("merge", "below the bar: merging"),
        ("write", "writing, sending"),
        ("load", "reading queries"),
    ]);
    let hint = "The thick bars are the search threads, the thin ones below what goes on beside the search. Point at a \
                bar to see what it was.";
    let drawing = charts::timeline(figures, 0.0, figures.timeline.end);
    section("What each rank did", hint, &(drawing + &legend(&items)))
}

fn tail(figures: &Figures) -> String {
    let (tail, end) = (figures.tail(), figures.timeline.end);
    let start = (tail.start - BEFORE_TAIL * (end - tail.start)).max(0.0);
    let idle = figures.ranks.iter().filter(|rank| end - rank.last > 0.5 * (end - tail.start));
    let hint = format!(
        "From {} on, when the first rank had nothing left to do, to the end at {}. {} waited for more than half of it. \
         In all, {} of the ranks' time was lost here.",
        seconds(tail.start),
        seconds(end),
        pluralize(idle.count() as u64, "rank"),
        percent(tail.lost),
    );
    let mut last = figures.tasks.clone();
    last.sort_by(|a, b| b.end.total_cmp(&a.end));
    let median = figures.task_seconds(0.5).max(1e-9);
    let rows = last.iter().take(LAST_TASKS).map(|task| {
        let number = |name| task.arg(name).map_or("-".to_owned(), count);
        vec![
            format!("block {} × partition {}", number("block"), number("partition")),
            task.track.rank.to_string(),
            seconds(task.start),
            seconds(task.seconds()),
            format!("{:.1} ×", task.seconds() / median),
            number("residues"),
            number("hits"),
        ]
    });
    let heads = ["last tasks", "rank", "begun", "took", "of median", "query residues", "hits"];
    section("The end", &hint, &(charts::timeline(figures, start, end) + &table(&heads, rows)))
}

fn tasks(figures: &Figures) -> String {
    let hint = format!(
        "{}, each a block of queries in a partition of the database. Half took at most {}, 95 % at most {}, the longest {}.",
        pluralize(figures.tasks.len() as u64, "task"),
        seconds(figures.task_seconds(0.5)),
        seconds(figures.task_seconds(0.95)),
        seconds(figures.task_seconds(1.0)),
    );
    let body = format!(
        "<div class=\"two\"><div><h3>How long tasks took</h3>{}</div><div><h3>Time by size</h3>{}</div></div>\n",
        charts::task_times(figures),
        charts::task_sizes(figures)
    );
    section("Tasks", &hint, &body)
}

fn output(figures: &Figures) -> String {
    let of = figures.output;
    let run = &figures.timeline.description;
    let hint = match format!("{:?}", run.output).to_lowercase().as_str() {
        "individual" => "Strategy individual: each rank writes its own pieces where they belong.",
        "records" => {
            "Strategy records: of each block the rank with most of it collects the rest and keeps it in its own file."
        }
        "collective" => "Strategy collective: the ranks of a group write together.",
        _ => "Strategy merge: of each block the rank with most of it collects the rest and writes.",
    };
    let mean = of.bytes as f64 / of.writes.max(1) as f64;
    let rows = [
        ("written", bytes(of.bytes as f64)),
        ("writes", format!("{}, {} each", count(of.writes), bytes(mean))),
        ("contiguous stretches", count(of.contiguous_ranges)),
        ("ranks that wrote", count(of.writers)),
        ("time of writing, in sum", seconds(of.seconds)),
        ("sent to the writing rank", bytes(of.sent as f64)),
        ("waited for earlier blocks, most", bytes(of.waiting as f64)),
    ];
    let rows = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]);
    let size: fn(f64) -> String = bytes;
    let number: fn(f64) -> String = |value| count(value as u64);
    let mut drawings = String::new();
    for (name, title, unit) in [
        (WAITING_TASKS, "Tasks that wait for a rank", number),
        (RESULT_MEMORY, "Memory of formatted results", size),
        (WAITING_OUTPUT_BYTES, "Finished output that waits for an earlier block", size),
    ] {
        if let Some(drawing) = charts::counter(figures, name, unit) {
            drawings.push_str(&format!("<div><h3>{title}</h3>{drawing}</div>"));
        }
    }
    let body =
        format!("<div class=\"two\"><div>{}</div>{drawings}</div>\n", table(&["", ""], rows));
    section("Output and what waited", hint, &body)
}

fn all_ranks(figures: &Figures) -> String {
    let rows = figures.ranks.iter().enumerate().take(MOST_RANKS).map(|(number, rank)| {
        let used = |of| seconds(rank.uses.get(&of).copied().unwrap_or(0.0));
        let beside =
            |kind| seconds(rank.seconds_outside_threads.get(&kind).copied().unwrap_or(0.0));
        vec![
            format!("rank {number}"),
            count(rank.tasks),
            used(ThreadUse::Search),
            used(ThreadUse::Align),
            used(ThreadUse::Output),
            used(ThreadUse::Idle),
            beside(Kind::Merge),
            beside(Kind::Write),
            count(rank.messages),
        ]
    });
    let heads = [
        "",
        "tasks",
        "searching",
        "aligning",
        "formatting",
        "idle",
        "merging",
        "writing",
        "messages",
    ];
    let table = table(&heads, rows);
    format!(
        "<section><details><summary>Figures of every rank</summary>\n{table}</details></section>\n"
    )
}

fn table(heads: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| -> String {
        cells.map(|cell| format!("<{tag}>{cell}</{tag}>")).collect()
    };
    let head = match heads.iter().all(|head| head.is_empty()) {
        true => String::new(),
        false => format!("<tr>{}</tr>\n", cells("th", &mut heads.iter().copied())),
    };
    let row = |row: Vec<String>| {
        format!("<tr>{}</tr>\n", cells("td", &mut row.iter().map(String::as_str)))
    };
    let rows: String = rows.map(row).collect();
    format!("<div class=\"scroll\"><table>\n{head}{rows}</table></div>\n")
}

fn glossary() -> String {
    let words = [
        (
            "rank",
            "One of the programs (or parts of one program) that search together, each on some cores.",
        ),
        ("block", "Queries that are searched together, about 50,000 residues."),
        ("partition", "A range of the database; each rank holds some."),
        ("task", "One block searched in one partition: the unit that a rank gets at a time."),
        (
            "group",
            "Ranks that together hold the whole database. Its master, on the first of them, gives out tasks and merges what \
                   they find.",
        ),
        ("searching", "Finding sequences that may be similar enough."),
        ("aligning", "Computing the alignments of the best of these."),
        (
            "merging",
            "Choosing the best hits of the whole database, and the place of each piece in the report.",
        ),
    ];
    let list: String =
        words.iter().map(|(word, what)| format!("<dt>{word}</dt><dd>{what}</dd>")).collect();
    section("Words", "", &format!("<dl>{list}</dl>\n"))
}

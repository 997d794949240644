//! The charts of the page that `fleetblast report` makes.

use fleetblast_job::trace::{Kind, Lane, Slice};

use super::figures::{Figures, STEPS, ThreadUse};
use super::svg::{Scale, Svg};
use super::text::{bytes, count, percent, seconds};

/// Width of all charts in pixels.
const WIDTH: f64 = 1080.0;
/// Left margin in pixels, for labels.
const LEFT: f64 = 76.0;
/// Right margin in pixels.
const RIGHT: f64 = 12.0;
/// Largest number of ranks in a chart. Of more ranks, the chart shows a selection.
const MOST_RANKS: usize = 48;
/// Height of all rows together in pixels, if a row is neither too low nor too high.
const ROWS: f64 = 200.0;
/// Least width of a slice in pixels. A narrower slice is widened, or left out if it overlaps the
/// last one.
const NARROWEST: f64 = 0.6;

fn time(from: f64, to: f64) -> Scale {
    Scale { from, to, start: LEFT, end: WIDTH - RIGHT }
}

/// Draws a time axis below a chart.
fn time_axis(svg: &mut Svg, time: Scale, top: f64, bottom: f64) {
    for tick in time.ticks(9) {
        let x = time.pixel(tick);
        svg.line("grid", (x, top), (x, bottom));
        svg.text(at_edge(x, WIDTH), (x, bottom + 15.0), tick_time(tick));
    }
}

/// Returns the CSS class that aligns words below a tick. Near the right edge, the words end at the
/// tick.
fn at_edge(x: f64, width: f64) -> &'static str {
    if x > width - 30.0 { "tick end" } else { "tick mid" }
}

/// Formats the time at a tick of an axis.
fn tick_time(time: f64) -> String {
    match time {
        0.0 => "0 s".to_owned(),
        0.999_5..99.95 => format!("{} s", (1e3 * time).round() / 1e3),
        time => seconds(time),
    }
}

/// Draws one bar with the shares of the search threads' time.
pub fn shares(figures: &Figures) -> String {
    let mut svg = Svg::new(WIDTH, 46.0);
    let mut x = 0.0;
    for of in ThreadUse::ALL {
        let share = figures.share(of);
        let width = share * WIDTH;
        let title = format!("{}: {} of the ranks' time", of.name(), percent(share));
        svg.rect(css_class(of), (x, 0.0), (width, 40.0), &title);
        if width > 92.0 {
            let words = format!("{} {}", of.name(), percent(share));
            svg.text(
                if of == ThreadUse::Idle { "on-light" } else { "on-dark" },
                (x + 10.0, 25.0),
                words,
            );
        }
        x += width;
    }
    svg.finish("shares of the time of all ranks")
}

/// Draws how many ranks worked at each time, and at which stage.
pub fn utilisation(figures: &Figures) -> String {
    let (height, bottom) = (230.0, 200.0);
    let mut svg = Svg::new(WIDTH, height);
    let end = figures.timeline.end;
    let time = time(0.0, end);
    let ranks = figures.ranks.len() as f64;
    let level = Scale { from: 0.0, to: ranks, start: bottom, end: 10.0 };
    svg.rect("plot", (LEFT, 10.0), (WIDTH - LEFT - RIGHT, bottom - 10.0), "");
    let ticks = level.ticks(4);
    for &tick in ticks.iter().filter(|tick| tick.fract() == 0.0) {
        svg.line("grid", (LEFT, level.pixel(tick)), (WIDTH - RIGHT, level.pixel(tick)));
        svg.text("tick end", (LEFT - 8.0, level.pixel(tick) + 4.0), count(tick as u64));
    }
    time_axis(&mut svg, time, 10.0, bottom);
    let mut below = vec![0.0; STEPS];
    for of in [ThreadUse::Load, ThreadUse::Search, ThreadUse::Align, ThreadUse::Output] {
        let above: Vec<f64> = (0..STEPS)
            .map(|step| below[step] + figures.steps[step].get(&of).copied().unwrap_or(0.0))
            .collect();
        let edge = |levels: &[f64]| -> Vec<(f64, f64)> {
            let width = end / STEPS as f64;
            let corner = |(step, &value): (usize, &f64)| {
                let x = |step: usize| time.pixel(step as f64 * width);
                [(x(step), level.pixel(value)), (x(step + 1), level.pixel(value))]
            };
            levels.iter().enumerate().flat_map(corner).collect()
        };
        let mut points = edge(&above);
        points.extend(edge(&below).into_iter().rev());
        svg.path(css_class(of), &points, false);
        below = above;
    }
    svg.finish("ranks at work over time")
}

/// Draws the work of each rank from the time `from` to the time `to`, in seconds. Of many ranks,
/// draws a selection.
pub fn timeline(figures: &Figures, from: f64, to: f64) -> String {
    let shown = shown_ranks(figures.ranks.len());
    let row_height = (ROWS / shown.len() as f64).clamp(21.0, 40.0);
    let bottom = 8.0 + row_height * shown.len() as f64;
    let mut svg = Svg::new(WIDTH, bottom + 24.0);
    let time = time(from, to);
    time_axis(&mut svg, time, 4.0, bottom);
    let slices = &figures.timeline.slices;
    for (row, &rank) in shown.iter().enumerate() {
        let bar = Bar { y: 6.0 + row_height * row as f64, height: row_height - 9.0 };
        svg.text("tick end", (LEFT - 8.0, bar.y + bar.height / 2.0 + 5.0), format!("rank {rank}"));
        svg.rect("idle", (LEFT, bar.y), (WIDTH - LEFT - RIGHT, bar.height), "");
        let first = slices.partition_point(|slice| (slice.track.rank as usize) < rank);
        let of_rank = slices[first..].iter().take_while(|slice| slice.track.rank as usize == rank);
        let mut last = (LEFT, LEFT);
        for slice in of_rank {
            let within = slice.end >= from && slice.start <= to;
            if within && slice.kind != Kind::Wait {
                draw(&mut svg, slice, time, bar, &mut last);
            }
        }
    }
    svg.finish("what each rank did when")
}

/// Vertical position and height in pixels of a rank's slices on search threads.
#[derive(Clone, Copy)]
struct Bar {
    y: f64,
    height: f64,
}

/// Draws a slice in the row of its rank: slices on search threads above, others below. `last` has
/// the right end of the last slice drawn above, and that of the last one below. A slice too narrow
/// to see is left out if it overlaps the last one.
fn draw(svg: &mut Svg, slice: &Slice, time: Scale, bar: Bar, last: &mut (f64, f64)) {
    let x = time.pixel(slice.start.max(time.from));
    let end = time.pixel(slice.end.min(time.to));
    let on_search = slice.track.lane == Lane::Search;
    let drawn = if on_search { &mut last.0 } else { &mut last.1 };
    if end - x < NARROWEST && x < *drawn {
        return;
    }
    let width = (end - x).max(NARROWEST);
    *drawn = x + width;
    let (class, top, height) = match on_search {
        true => (css_class(ThreadUse::from_kind(slice.kind)), bar.y, bar.height),
        false => (class_beside(slice.kind), bar.y + bar.height + 1.0, 4.0),
    };
    svg.rect(class, (x, top), (width, height), &describe_slice(slice));
}

/// Describes a slice for its tooltip.
pub fn describe_slice(slice: &Slice) -> String {
    let mut words = format!("rank {}: {}", slice.track.rank, slice.kind);
    for (name, title) in [("block", "block"), ("partition", "partition")] {
        if let Some(number) = slice.arg(name) {
            words.push_str(&format!(" {title} {number}"));
        }
    }
    words.push_str(&format!(", {} from {}", seconds(slice.seconds()), seconds(slice.start)));
    for (name, title) in [("queries", "queries"), ("residues", "residues"), ("hits", "hits")] {
        if let Some(number) = slice.arg(name) {
            words.push_str(&format!(", {} {title}", count(number)));
        }
    }
    if let Some(size) = slice.arg("bytes") {
        words.push_str(&format!(", {}", bytes(size as f64)));
    }
    words
}

/// Returns the ranks to show: all, or an even selection of many with the first and the last.
fn shown_ranks(count: usize) -> Vec<usize> {
    if count <= MOST_RANKS {
        return (0..count).collect();
    }
    (0..MOST_RANKS).map(|place| place * (count - 1) / (MOST_RANKS - 1)).collect()
}

/// Draws a histogram of task times, on a logarithmic scale.
pub fn task_times(figures: &Figures) -> String {
    let count_of_bars = (2 * figures.tasks.len().isqrt()).clamp(8, 40);
    let width = 520.0;
    let mut svg = Svg::new(width, 230.0);
    let (Some(longest), Some(shortest)) = (figures.tasks.first(), figures.tasks.last()) else {
        return svg.finish("no tasks");
    };
    let low = shortest.seconds().max(1e-6).log10();
    let high = longest.seconds().max(1e-6).log10().max(low + 0.3);
    let mut bars = vec![0_u64; count_of_bars];
    for task in &figures.tasks {
        let place = (task.seconds().max(1e-6).log10() - low) / (high - low) * count_of_bars as f64;
        bars[(place as usize).min(count_of_bars - 1)] += 1;
    }
    let most = bars.iter().copied().max().unwrap_or(1) as f64;
    let x = Scale { from: low, to: high, start: 44.0, end: width - 10.0 };
    let y = Scale { from: 0.0, to: most, start: 196.0, end: 10.0 };
    for tick in y.ticks(4).into_iter().filter(|tick| tick.fract() == 0.0) {
        svg.line("grid", (44.0, y.pixel(tick)), (width - 10.0, y.pixel(tick)));
        svg.text("tick end", (38.0, y.pixel(tick) + 4.0), count(tick as u64));
    }
    for (place, &tasks) in bars.iter().enumerate().filter(|(_, tasks)| **tasks > 0) {
        let edge = |place: usize| low + (high - low) * place as f64 / count_of_bars as f64;
        let (left, right) = (x.pixel(edge(place)), x.pixel(edge(place + 1)));
        let times = (10_f64.powf(edge(place)), 10_f64.powf(edge(place + 1)));
        let title =
            format!("{} tasks of {} to {}", count(tasks), seconds(times.0), seconds(times.1));
        let top = y.pixel(tasks as f64);
        svg.rect("search", (left + 0.5, top), (right - left - 1.0, 196.0 - top), &title);
    }
    for share in 0..=4 {
        let log = low + (high - low) * f64::from(share) / 4.0;
        svg.text(
            "tick mid",
            (x.pixel(log).clamp(66.0, width - 36.0), 212.0),
            seconds(10_f64.powf(log)),
        );
    }
    svg.text("tick mid", (width / 2.0, 228.0), "time of a task");
    svg.finish("distribution of task times")
}

/// Draws the time of each task against its size: residues of the queries × residues of the
/// partition. Of many tasks, draws an even selection.
pub fn task_sizes(figures: &Figures) -> String {
    const MOST_DOTS: usize = 1500;
    let width = 520.0;
    let mut svg = Svg::new(width, 230.0);
    let every = figures.tasks.len().div_ceil(MOST_DOTS).max(1);
    let points: Vec<(f64, &Slice)> = figures
        .tasks
        .iter()
        .step_by(every)
        .filter_map(|task| Some((figures.cells(task)? * 1e-9, *task)))
        .collect();
    let most = |of: &dyn Fn(&(f64, &Slice)) -> f64| points.iter().map(of).fold(0.0, f64::max);
    let (cells, longest) = (most(&|point| point.0), most(&|point| point.1.seconds()));
    let x = Scale { from: 0.0, to: cells * 1.04, start: 60.0, end: width - 10.0 };
    let y = Scale { from: 0.0, to: longest * 1.06, start: 196.0, end: 10.0 };
    for tick in y.ticks(4) {
        svg.line("grid", (60.0, y.pixel(tick)), (width - 10.0, y.pixel(tick)));
        svg.text("tick end", (54.0, y.pixel(tick) + 4.0), tick_time(tick));
    }
    for tick in x.ticks(5) {
        svg.text("tick mid", (x.pixel(tick), 212.0), format!("{tick}"));
    }
    for (cells, task) in &points {
        svg.dot("dot", (x.pixel(*cells), y.pixel(task.seconds())), 3.2, &describe_slice(task));
    }
    svg.text(
        "tick mid",
        (width / 2.0, 228.0),
        "billion comparisons (query residues × partition residues)",
    );
    svg.finish("task times by size")
}

/// Draws a counter over time, summed over ranks; `None` if it is always 0.
pub fn counter(figures: &Figures, name: &str, unit: fn(f64) -> String) -> Option<String> {
    let (width, bottom) = (520.0, 110.0);
    let mut changes: Vec<(f64, f64)> = Vec::new();
    for (full, values) in &figures.timeline.counters {
        if super::figures::parse_counter_name(full).is_some_and(|(_, of)| of == name) {
            let mut before = 0.0;
            for &(time, value) in values {
                changes.push((time, value - before));
                before = value;
            }
        }
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sum = 0.0;
    let levels: Vec<(f64, f64)> = changes
        .into_iter()
        .map(|(time, change)| {
            sum += change;
            (time, sum)
        })
        .collect();
    let most = levels.iter().map(|level| level.1).fold(0.0, f64::max);
    if most == 0.0 {
        return None;
    }
    let mut svg = Svg::new(width, 134.0);
    let x = Scale { from: 0.0, to: figures.timeline.end, start: 76.0, end: width - 10.0 };
    let y = Scale { from: 0.0, to: most, start: bottom, end: 10.0 };
    for tick in [0.0, most / 2.0, most] {
        svg.line("grid", (76.0, y.pixel(tick)), (width - 10.0, y.pixel(tick)));
        svg.text("tick end", (70.0, y.pixel(tick) + 4.0), unit(tick));
    }
    for tick in x.ticks(4) {
        svg.text(at_edge(x.pixel(tick), width), (x.pixel(tick), bottom + 16.0), tick_time(tick));
    }
    let mut points = vec![(x.pixel(0.0), y.pixel(0.0))];
    for (time, level) in thin(levels) {
        let before = points.last().map_or(y.pixel(0.0), |point| point.1);
        points.extend([(x.pixel(time), before), (x.pixel(time), y.pixel(level))]);
    }
    let last = points.last().map_or(y.pixel(0.0), |point| point.1);
    points.extend([(x.end, last), (x.end, y.pixel(0.0))]);
    svg.path("area", &points, false);
    Some(svg.finish(name))
}

/// Reduces the values to about 1000 or fewer: keeps the largest of each run.
fn thin(levels: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let every = levels.len().div_ceil(1000).max(1);
    levels
        .chunks(every)
        .filter_map(|some| some.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)))
        .collect()
}

/// Returns the CSS class of a use of the search threads.
pub fn css_class(of: ThreadUse) -> &'static str {
    match of {
        ThreadUse::Search => "search",
        ThreadUse::Align => "align",
        ThreadUse::Output => "format",
        ThreadUse::Load => "load",
        ThreadUse::Idle => "idle",
    }
}

/// Returns the CSS class of a slice outside the search threads.
fn class_beside(kind: Kind) -> &'static str {
    match kind {
        Kind::Merge => "merge",
        Kind::Read | Kind::Prepare | Kind::Load => "load",
        _ => "write",
    }
}

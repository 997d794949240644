#!/usr/bin/env python3
"""Makes a table, and pictures, of what paramedic.sh measured: paramedic.py FIGURES DIRECTORY writes DIRECTORY/paramedic-RATE.svg,
and the table to standard output. Of runs of the same kind the least time counts."""
import sys
from pathlib import Path

WAYS = ["direct", "oids", "hits", "report", "auto"]
COLOURS = dict(zip(WAYS, ["#444444", "#1b7837", "#2166ac", "#b2182b", "#e08214"]))
WIDTH, HEIGHT, LEFT, TOP = 640, 360, 60, 40


def read(path):
    """By rate, delay (ms) and way: seconds and bytes over the link."""
    cells, size = {}, 0
    for line in Path(path).read_text().splitlines():
        delay, rate, way, seconds, crossed, size = line.split()
        cell = cells.setdefault(rate, {}).setdefault(float(delay.removesuffix("ms")), {})
        cell[way] = min(cell.get(way, (float("inf"), 0)), (float(seconds), int(crossed)))
    return cells, int(size)


def table(cells):
    print("| rate | delay, ms | " + " | ".join(f"{way}, s" for way in WAYS) + " | direct to the best |")
    print("| --- | --- |" + " --- |" * (len(WAYS) + 1))
    for rate, rows in cells.items():
        for delay, row in sorted(rows.items()):
            times = [row[way][0] if way in row else None for way in WAYS]
            texts = [f"{time:.2f}" if time else "-" for time in times]
            best = min((time for time in times[1:] if time), default=None)
            gain = f"{times[0] / best:.1f}" if times[0] and best else "-"
            print(f"| {rate} | {delay:g} | " + " | ".join(texts) + f" | {gain} |")
    print()
    print("| way | bytes over the link | report to them |")
    print("| --- | --- | --- |")
    row = next(iter(next(iter(cells.values())).values()))
    for way in WAYS:
        if way in row and "direct" in row:
            print(f"| {way} | {row[way][1]:,} | {row['direct'][1] / row[way][1]:.1f} |")


def picture(rate, rows):
    delays = sorted(rows)
    most = max(seconds for row in rows.values() for seconds, _ in row.values()) * 1.05
    across = lambda delay: LEFT + (WIDTH - LEFT - 110) * delay / max(delays[-1], 1)
    up = lambda seconds: HEIGHT - 50 - (HEIGHT - 50 - TOP) * seconds / most
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20">Until the report is whole at the other site, s; {rate}</text>',
        f'<text x="{(LEFT + WIDTH - 110) / 2}" y="{HEIGHT - 12}">delay, ms</text>',
        f'<path d="M{LEFT} {TOP} V{HEIGHT - 50} H{WIDTH - 110}" fill="none" stroke="black"/>',
    ]
    for delay in delays:
        parts.append(f'<text x="{across(delay):.0f}" y="{HEIGHT - 34}" text-anchor="middle">{delay:g}</text>')
    for part in range(5):
        seconds = most * part / 4
        parts.append(f'<text x="{LEFT - 6}" y="{up(seconds) + 4:.0f}" text-anchor="end">{seconds:.1f}</text>')
    for number, way in enumerate(WAYS):
        points = [(across(delay), up(rows[delay][way][0])) for delay in delays if way in rows[delay]]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[way]}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[way]}"/>' for x, y in points]
        parts.append(f'<text x="{WIDTH - 95}" y="{TOP + 18 * number + 10}" fill="{COLOURS[way]}">{way}</text>')
    return "\n".join(parts + ["</svg>", ""])


def main():
    cells, size = read(sys.argv[1])
    print(f"The report has {size:,} bytes.\n")
    table(cells)
    for rate, rows in cells.items():
        if len(rows) > 1:
            Path(sys.argv[2], f"paramedic-{rate}.svg").write_text(picture(rate, rows))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes tables, and pictures, of what paramedic.sh measured: paramedic.py FIGURES DIRECTORY AXIS AXIS, with the names of the two axes that it
was told, writes DIRECTORY/paramedic-AXIS-VALUE.svg for each value of the first axis with several of the second, and the tables to standard output.
Of runs of the same kind the least time counts."""
import re
import sys
from pathlib import Path

COLOURS = {"direct": "#444444", "sshfs": "#999999", "oids": "#1b7837", "hits": "#2166ac", "report": "#b2182b", "auto": "#e08214"}
DIRECT = ["direct", "sshfs"]
UNITS = {"delay": "ms"}
WIDTH, HEIGHT, LEFT, TOP = 640, 360, 60, 40


def read(path):
    """By the values on both axes, bytes of the report, and by way: seconds and bytes over the link."""
    cells = {}
    for line in Path(path).read_text().splitlines():
        first, second, way, seconds, crossed, size = line.split()
        row, ways = cells.setdefault(first, {}).setdefault(second, (int(size), {}))
        assert row == int(size), f"{first} {second}: reports of two sizes"
        ways[way] = min(ways.get(way, (float("inf"), 0)), (float(seconds), int(crossed)))
    return cells


def number(text):
    """What of a value is a number: 50 of 50ms, 3 of 3:1."""
    return float(re.match(r"[0-9.]*", text).group() or 0)


def rows(cells):
    for first, row in cells.items():
        for second in sorted(row, key=number):
            yield first, second, *row[second]


def tables(cells, axes):
    ways = [way for way in COLOURS if any(way in found for *_, found in rows(cells))]
    head = [*axes, "report, MB", *(f"{way}, s" for way in ways), "direct to the best"]
    print("| " + " | ".join(head) + " |")
    print("| --- " * len(head) + "|")
    for first, second, size, found in rows(cells):
        times = {way: found[way][0] for way in ways if way in found}
        best = min((time for way, time in times.items() if way not in DIRECT), default=None)
        gain = f"{times['direct'] / best:.1f}" if "direct" in times and best else "-"
        texts = [f"{times[way]:.2f}" if way in times else "-" for way in ways]
        print("| " + " | ".join([first, second, f"{size / 1e6:.1f}", *texts, gain]) + " |")
    print("\nBytes over the link, and the report's to them:\n")
    print("| " + " | ".join([*axes, *ways]) + " |")
    print("| --- " * (len(ways) + len(axes)) + "|")
    for first, second, size, found in rows(cells):
        texts = [f"{found[way][1]:,} ({size / found[way][1]:.1f})" if way in found else "-" for way in ways]
        print("| " + " | ".join([first, second, *texts]) + " |")


def picture(title, row, axis):
    places = sorted(row, key=number)
    most = max(seconds for _, ways in row.values() for seconds, _ in ways.values()) * 1.05
    # Ten times as much is as far as ten times as much again, but for delays, which begin at nothing.
    even = lambda place: LEFT + (WIDTH - LEFT - 110) * places.index(place) / max(len(places) - 1, 1)
    far = lambda place: LEFT + (WIDTH - LEFT - 110) * number(place) / max(number(places[-1]), 1)
    across = far if axis in UNITS else even
    up = lambda seconds: HEIGHT - 50 - (HEIGHT - 50 - TOP) * seconds / most
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20">Until the report is whole at the other site, s; {title}</text>',
        f'<text x="{(LEFT + WIDTH - 110) / 2}" y="{HEIGHT - 12}">{axis}</text>',
        f'<path d="M{LEFT} {TOP} V{HEIGHT - 50} H{WIDTH - 110}" fill="none" stroke="black"/>',
    ]
    for place in places:
        parts.append(f'<text x="{across(place):.0f}" y="{HEIGHT - 34}" text-anchor="middle">{place}</text>')
    for part in range(5):
        seconds = most * part / 4
        parts.append(f'<text x="{LEFT - 6}" y="{up(seconds) + 4:.0f}" text-anchor="end">{seconds:.1f}</text>')
    shown = [way for way in COLOURS if any(way in ways for _, ways in row.values())]
    for line, way in enumerate(shown):
        points = [(across(place), up(row[place][1][way][0])) for place in places if way in row[place][1]]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[way]}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[way]}"/>' for x, y in points]
        parts.append(f'<text x="{WIDTH - 95}" y="{TOP + 18 * line + 10}" fill="{COLOURS[way]}">{way}</text>')
    return "\n".join(parts + ["</svg>", ""])


def main():
    figures, directory, *axes = sys.argv[1:]
    cells = read(figures)
    tables(cells, axes)
    for first, row in cells.items():
        if len(row) > 1:
            name = re.sub(r"[^A-Za-z0-9]+", "-", f"{axes[1]}-{first}")
            Path(directory, f"paramedic-{name}.svg").write_text(picture(f"{axes[0]} {first}", row, axes[1]))


if __name__ == "__main__":
    main()

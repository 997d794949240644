"""Compares what readers find in reports: compare.py WORK [READER...]

WORK/RELEASE/PROGRAM/MODE/ours has FleetBLAST's reports, each named by its format, and `theirs`
beside it those of BLAST+ 2.12.0. A reader must have the same verdict on both, and find the same
values. On FleetBLAST's report of a later release its verdict must be as good as on that of BLAST+
2.12.0. Prints a line for each check. Without READER, all readers but that of format 0.
"""
import functools
import pathlib
import shutil
import signal
import sys
import tempfile

from read import READERS, objects, values

ORACLE = "2.12.0"
# From the worst on.
VERDICTS = ["refused", "read in part", "read"]
# Seconds of CPU time: SearchIO does not end with half a report of format 7.
LONGEST = 10
# Queries with and without hits of each mode, see data.py.
QUERIES = {"plain": (3, 1), "parsed": (3, 0), "latin": (3, 1), "single": (1, 0)}


@functools.lru_cache(maxsize=None)
def reading(name, directory):
    """Returns the verdict of a reader, its reason, and the values that it found."""
    report_format, reader = READERS[name]
    hits, found = {}, []
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    try:
        for query, count, thing in reader(directory / report_format):
            hits[query] = max(hits.get(query, 0), count)
            found += values(thing)
    except Exception as error:
        return "refused", type(error).__name__, []
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    with_hits, without = QUERIES[directory.parent.name]
    without = 0 if report_format in ("6", "10") else without
    if sum(map(bool, hits.values())) == with_hits and len(hits) == with_hits + without:
        return "read", "", found
    return "read in part", "", found if any(hits.values()) else []


def stop_reader(*_):
    raise TimeoutError


def check(passed, text):
    print("ok     " if passed else "FAILED ", text, flush=True)


def compare(name, directory):
    release, program, mode = directory.parts[-3:]
    theirs = reading(name, directory.parents[2] / ORACLE / program / mode / "theirs")
    ours = reading(name, directory / "ours")
    verdict, reason, found = ours
    as_good = VERDICTS.index(verdict) >= VERDICTS.index(theirs[0])
    passed = ours == theirs if release == ORACLE else as_good
    text = f"{release} {program} {mode}: format {READERS[name][0]}, {name}: {verdict} {reason}"
    text = text.rstrip()
    if not passed:
        text += f", {len(found)} values, but BLAST+'s report: {theirs[0]} {theirs[1]}"
        text += f", {len(theirs[2])} values"
    elif verdict != "read":
        text += " AS BLAST+'S REPORT"
    else:
        text += f", {len(found)} values"
    check(passed and (found or verdict == "refused"), text)


def same_in_all(directory):
    """Requires the same names, numbers and texts of JSON and XML2."""
    release, program, mode = directory.parts[-3:]
    text = f"{release} {program} {mode}: formats 13 to 16 have the same"
    try:
        documents = [list(objects(directory / "ours" / name)) for name in ("13", "14", "15", "16")]
    except Exception as error:
        check(False, f"{text} values: {error}")
    else:
        count = sum(map(len, documents[0]))
        same = all(document == documents[0] for document in documents)
        check(count and same, f"{text} {count} values")


def notices_damage(name, directory):
    """Requires that a reader notices half a report, and one number that is another."""
    report_format = READERS[name][0]
    number = (directory / "ours/6").read_bytes().split(b"\t")[7]
    damages = {"half a report": lambda report: report[:len(report) // 2],
               "another number": lambda report: report.replace(number, b"%d" % (int(number) + 1))}
    for what, damage in damages.items():
        # In a directory of the same name, which says what is in the report.
        with tempfile.TemporaryDirectory() as temporary:
            copy = pathlib.Path(temporary) / directory.name / "ours"
            shutil.copytree(directory / "ours", copy)
            file = next(copy.glob(f"{report_format}_1.*"), copy / report_format)
            file.write_bytes(damage(file.read_bytes()))
            noticed = reading(name, copy) != reading(name, directory / "ours")
        check(noticed, f"format {report_format}, {name}: {what} is noticed")


def main():
    signal.signal(signal.SIGVTALRM, stop_reader)
    work, *names = sys.argv[1:]
    work = pathlib.Path(work)
    all_readers = names or list(READERS)[1:]
    for name in all_readers:
        notices_damage(name, work / ORACLE / "blastn/parsed")
    for ours in sorted(work.glob("*/*/*/ours")):
        directory = ours.parent
        release, _, mode = directory.parts[-3:]
        for name in all_readers:
            # XML of 2.17.0 does not have characters beyond ASCII.
            if (release, mode) != ("2.17.0", "latin") or READERS[name][0] not in ("5", "14", "16"):
                compare(name, directory)
        if not names and mode != "latin":
            same_in_all(directory)


main()

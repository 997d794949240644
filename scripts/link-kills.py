#!/usr/bin/env python3
"""Kills either side of a search whose report is made at another site, and cuts the link between them, again and again:
link-kills.py [COUNT [SEED [PROGRAM]]]. What was killed is typed again. Every report must be the bytes of the search that
writes its own, and nothing may have its name before it is whole.

Between -send and 'fleetblast receive' stands a relay, which ends all connections when it is told to, and lets none through for
a while. Searches take turns at kinds of metadata, formats and ranks, until there were COUNT (30) kills: each third of them of one of
search, receiver and link. Everything that is waited for has a limit."""

import os
import random
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time

LIMIT = 300  # seconds until a search must be through, and for anything else
VICTIMS = ["search", "receiver", "link"]
ROUNDS = ["psiblast", "-num_iterations", "3"]
# What is searched, kind, format, options of ranks.
TURNS = [
    (["blastp"], "hits", "0", []),
    (["blastp"], "oids", "5", []),
    (["blastp"], "report", "7", []),
    (["blastp"], "auto", "5", []),
    (["blastp"], "hits", "6", ["-ranks", "3"]),
    (["blastp"], "auto", "0", ["-ranks", "3"]),
    (["blastp"], "oids", "0", ["-ranks", "2", "-checkpoint", "kept", "-resume"]),
    (["blastp"], "report", "5", ["-ranks", "4", "-checkpoint", "kept", "-resume"]),
    (ROUNDS, "hits", "5", []),
    (ROUNDS, "hits", "0", ["-ranks", "3", "-checkpoint", "kept", "-resume"]),
]


def fail(text):
    sys.exit(f"link-kills: {text}")


class Relay:
    """Leads connections to a port, which others may listen at in turns."""

    def __init__(self, port):
        self.target = port
        self.pairs, self.closed_until, self.lock = [], 0.0, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            if time.monotonic() < self.closed_until:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self.target), 5)
            except OSError:
                near.close()
                continue
            with self.lock:
                self.pairs.append((near, far))
            threading.Thread(target=self.carry, args=(near, far), daemon=True).start()

    def carry(self, near, far):
        try:
            while True:
                for one in select.select([near, far], [], [])[0]:
                    piece = one.recv(4096)
                    if not piece:
                        return
                    (far if one is near else near).sendall(piece)
        except (OSError, ValueError):
            pass
        finally:
            near.close()
            far.close()

    def cut(self):
        """Whether there was anything to cut."""
        self.closed_until = time.monotonic() + random.uniform(0, 1)
        with self.lock:
            alive = [pair for pair in self.pairs if pair[0].fileno() >= 0]
            self.pairs.clear()
        for near, far in alive:
            for one in (near, far):
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        return bool(alive)


class Sites:
    def __init__(self, program, directory):
        self.program, self.directory = program, directory
        # psiblast searches each query alone, and ends where batches are to be larger.
        self.batches = dict(os.environ, BATCH_SIZE="400")
        letters = "ARNDCQEGHILKMFPSTWYV"
        ancestors = ["".join(random.choices(letters, k=160)) for _ in range(6)]
        relative = lambda number: "".join(
            random.choice(letters) if random.random() < 0.3 else letter for letter in ancestors[number % 6]
        )
        for name, count in ("db.fa", 200), ("q.fa", 500):
            with open(f"{directory}/{name}", "w") as file:
                file.writelines(f">{name[0]}{number}\n{relative(number)}\n" for number in range(count))
        self.run("makeblastdb", "-in", "db.fa", "-dbtype", "prot", "-out", "db", "-title", "db")
        self.keys = [self.run("keygen", name).decode().strip() for name in ("here", "there")]
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.relay = Relay(self.port)

    def environment(self, program):
        return os.environ if program == "psiblast" else self.batches

    def run(self, *words):
        return subprocess.run(
            [self.program, *words], cwd=self.directory, check=True, timeout=LIMIT, stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL, env=self.environment(words[0]),
        ).stdout

    def start(self, name, words):
        errors = open(f"{self.directory}/{name}.err", "ab")
        return subprocess.Popen(
            [self.program, *words], cwd=self.directory, env=self.environment(words[0]), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=errors,
        )

    SEARCH = ["-query", "q.fa", "-db", "db", "-block_residues", "500", "-num_threads", "1"]

    def receiver(self):
        return self.start("receiver", [
            "receive", "-listen", f"127.0.0.1:{self.port}", "-key", "there", "-peer", self.keys[0], "-db", "db",
            "-out", "report", "-link_timeout", "120",
        ])

    def search(self, program, kind, form, options):
        return self.start("search", [
            *program, *self.SEARCH, "-outfmt", form, "-metadata", kind, "-send", f"127.0.0.1:{self.relay.port}", "-key", "here",
            "-peer", self.keys[1], "-link_timeout", "60", *options,
        ])

    def said(self):
        return "".join(
            f"--- {name}\n" + open(f"{self.directory}/{name}.err", errors="replace").read()[-2000:]
            for name in ("search", "receiver")
        )

    def turn(self, program, kind, form, options, kills, count):
        """One search, killed on its way as long as fewer than `count` were."""
        for left in ("report", "report.fbm", "search.err", "receiver.err"):
            if os.path.exists(f"{self.directory}/{left}"):
                os.remove(f"{self.directory}/{left}")
        subprocess.run(["rm", "-rf", f"{self.directory}/kept"], check=True)
        wanted = self.run(*program, *self.SEARCH, "-outfmt", form)
        receiver, search = self.receiver(), self.search(program, kind, form, options)
        end = time.monotonic() + LIMIT
        pause = time.monotonic() + random.uniform(0.2, 1.5)
        mine = 0
        while receiver.poll() is None:
            if time.monotonic() > end:
                fail(f"{program[0]}, {kind}, format {form}, {options}: no end\n{self.said()}")
            if search.poll() is not None and search.returncode != 0:
                # The receiver was away while it finished, or it is told so: typed again.
                search = self.search(program, kind, form, options)
            if time.monotonic() > pause and sum(kills.values()) < count and mine < 5:
                victim = min(VICTIMS, key=lambda name: (kills[name], random.random()))
                if victim == "search" and search.poll() is None:
                    search.kill()
                    search.wait(LIMIT)
                    search = self.search(program, kind, form, options)
                elif victim == "receiver" and receiver.poll() is None:
                    receiver.kill()
                    receiver.wait(LIMIT)
                    if receiver.returncode == 0:
                        break
                    if os.path.exists(f"{self.directory}/report"):
                        # It was killed between giving the report its name and its own end.
                        break
                    receiver = self.receiver()
                elif victim != "link" or not self.relay.cut():
                    continue
                kills[victim] += 1
                mine += 1
                pause = time.monotonic() + random.uniform(0.2, 1.5)
            time.sleep(0.005)
        search.kill()
        search.wait(LIMIT)
        report = f"{self.directory}/report"
        made = open(report, "rb").read() if os.path.exists(report) else b""
        if made != wanted:
            fail(f"{program[0]}, {kind}, format {form}, {options}: {len(made)} bytes instead of {len(wanted)}, or others\n{self.said()}")
        print(f"ok  {program[0]}, {kind} in format {form} {' '.join(options)}: {len(wanted)} bytes after {mine} kills", flush=True)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    program = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else f"{root}/target/release/fleetblast"
    random.seed(seed)
    kills = dict.fromkeys(VICTIMS, 0)
    with tempfile.TemporaryDirectory() as directory:
        sites, turn = Sites(program, directory), 0
        while sum(kills.values()) < count:
            if turn > 10 * len(TURNS):
                fail("searches are through before they can be killed")
            sites.turn(*TURNS[turn % len(TURNS)], kills, count)
            turn += 1
    print("kills: " + ", ".join(f"{number} of the {name}" for name, number in kills.items()))


main()

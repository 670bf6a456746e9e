# SPDX-License-Identifier: MIT
"""Interpreter of the peers, the programs that measure, and the machine they run on.

Needs nothing beyond Python: the packages of others are imported by the processes started here.
"""
import contextlib
import glob
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
REQUIREMENTS = os.path.join(HERE, "requirements.txt")
QUIET = False

VERSIONS = """
import importlib.metadata, json, platform, sys
found = {"python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        __import__(name)
        found[name] = importlib.metadata.version(name)
    except ImportError as e:
        found[name] = None
        print(name + ": " + str(e), file=sys.stderr)
print(json.dumps(found))
"""


class Failure(Exception):
    """One line for the user."""


def note(text):
    if not QUIET:
        print(text, file=sys.stderr, flush=True)


# ---- the interpreter ----


def interpreter(given, folder, index, packages):
    """An interpreter that has the packages, and their versions. Installs only into the folder."""
    python = given or installed(folder, index)
    try:
        done = subprocess.run([python, "-c", VERSIONS, *packages], capture_output=True, text=True)
    except OSError as e:
        raise Failure(f"{python}: {e.strerror}; expected a Python interpreter") from e
    if done.returncode:
        raise Failure(f"{python}: {last_line(done.stderr)}")
    versions = json.loads(done.stdout.splitlines()[-1])
    missing = [name for name, version in versions.items() if version is None]
    if missing:
        raise Failure(f"{python} cannot import {', '.join(missing)} ({last_line(done.stderr)}); "
                      "expected the packages of bench/peers/requirements.txt")
    return python, versions


def installed(folder, index):
    """The interpreter of a private environment, made if it is not there or has other versions."""
    python = os.path.join(folder, "bin", "python")
    stamp = os.path.join(folder, "requirements.txt")
    if os.path.exists(python) and same_text(stamp, REQUIREMENTS):
        return python
    if not all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")):
        raise Failure(f"{sys.executable} cannot make environments: no module venv or ensurepip "
                      "(Debian has them in the package python3-venv); "
                      "or give --python an interpreter that has the packages")
    note(f"installing the packages of bench/peers/requirements.txt into {folder}")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS]
    for command in ([sys.executable, "-m", "venv", folder],
                    pip + (["--extra-index-url", index] if index else [])):
        if subprocess.run(command).returncode:
            raise Failure(f"'{' '.join(command)}' failed (above); without a network give --python "
                          "an interpreter that has the packages")
    shutil.copyfile(REQUIREMENTS, stamp)  # last: a half installed environment is completed
    return python


def same_text(a, b):
    try:
        with open(a) as x, open(b) as y:
            return x.read() == y.read()
    except OSError:
        return False


def last_line(text):
    return (text.strip().splitlines() or ["no message"])[-1]


# ---- programs that measure ----


def jemalloc():
    """Environment that preloads jemalloc if it is there: it makes PyTorch up to twice as fast."""
    found = sorted(glob.glob("/usr/lib/*/libjemalloc.so.2") + glob.glob("/usr/lib64/libjemalloc.so.2"))
    return {"LD_PRELOAD": found[0], "MALLOC_CONF": "dirty_decay_ms:-1,muzzy_decay_ms:-1"} if found else {}


@contextlib.contextmanager
def cores(n):
    """Processes started inside may use n cores."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(every)[:n])
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


def setting(threads, more):
    return {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads), **more}


def run(*command, threads=1, more=None):
    """Standard output of a program on so many cores."""
    with cores(threads):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True,
                              env=setting(threads, more or {}))
    if done.returncode:
        raise Failure(f"{' '.join(map(str, command))}: exit {done.returncode}: {last_line(done.stderr)}")
    return done.stdout


def run_json(*command, threads=1, more=None):
    """The last line of a program, which is JSON."""
    return json.loads(run(*command, threads=threads, more=more).splitlines()[-1])


class Worker:
    """A process that answers a line of JSON for each line that it is given."""

    def __init__(self, *command, threads=1, more=None):
        self.command = [str(c) for c in command]
        with cores(threads):
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                            env=setting(threads, more or {}))

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"{' '.join(self.command)}: exit {self.process.wait()} (above)")
        return json.loads(line)

    def ask(self, question=None):
        self.process.stdin.write(json.dumps(question) + "\n" if question else "\n")
        self.process.stdin.flush()
        return self.answer()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()


# ---- the machine ----


def program(build, *path):
    found = os.path.join(build, *path)
    if not os.path.exists(found):
        raise Failure(f"no {found}; build rela first (make), or give --build")
    return found


def machine(build):
    report = {"cpu": platform.processor() or platform.machine(), "cores": os.cpu_count(),
            "rela": run(program(build, "rela"), "--version").split()[-1], "load": round(os.getloadavg()[0], 2),
            "jemalloc": bool(jemalloc())}
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as f:
        report["cpu"] = next((x.split(":")[1].strip() for x in f if x.startswith("model name")), report["cpu"])
    if hasattr(os, "sched_getaffinity"):
        report["cores"] = len(os.sched_getaffinity(0))
    return report

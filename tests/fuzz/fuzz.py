#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the fuzzing targets of a build.

    fuzz.py BUILD [--minutes N] [--work DIR] [--targets model,tosa,…] [--corpus DIR] [--seed S]
    fuzz.py BUILD --check [--work DIR]

BUILD must be configured with HEADRACE_TESTS; the slow tier also needs clang with HEADRACE_SANITIZE and
HEADRACE_FUZZ, otherwise only the fast tier runs. For an hour: --minutes 60; for a night: --minutes 480. Each
target gets its share of the time, in rounds of at most ten minutes: first the fast tier, then libFuzzer on
the corpus that the fast tier has extended. The corpus stays in DIR/corpus for the next run. --corpus names a
folder with more .pt2 files.

--check is the mode of ctest: about half a minute of the fast tier from an empty corpus, always with the same
inputs, so that its result does not depend on the machine or its load: an input may take 30 s of CPU, instead
of 4 s otherwise. It empties DIR first.

Findings are in DIR/findings/TARGET: one file each, a .txt that describes the fault, and a .min that is
smaller. Copy fixed findings to tests/fuzz/regressions, where ctest runs them again. Exit status 1 if there is
a finding.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
# The share of the time for each target.
SHARES = {"model": 8, "execution": 4, "text": 3, "tosa": 2, "pte": 2, "package": 2, "zip": 1, "npy": 1, "vela": 1}
# The part of each target that --check runs, in rounds of 400 inputs.
CHECK_ROUNDS = {"model": 4, "execution": 3, "text": 70, "tosa": 35, "pte": 20, "package": 3, "zip": 3, "npy": 8,
                "vela": 8}
LARGEST_SEED = 40_000
SANITIZED_SECONDS = 60  # sanitizers take up to 35 times as long: loops reach their limit after 33 s, not 1
CHECK_SECONDS = 30  # for a slow and busy machine


def vela_seed(path):
    """Returns an archive like Vela's, as the test of `headrace embed` makes it."""
    sys.path.insert(0, str(HERE.parent / "end_to_end"))
    spec = importlib.util.spec_from_file_location("embed", HERE.parent / "end_to_end" / "embed.py")
    embed = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(embed)
    embed.write_vela(path)


def make_seeds(program, seeds, corpus):
    """Makes a folder of small inputs for each target, once."""
    if seeds.exists():
        return
    for target in SHARES:
        (seeds / target).mkdir(parents=True)
    models = sorted((HERE.parent / "fixtures").rglob("model.pt2")) + sorted((HERE / "regressions").rglob("*.pt2"))
    models += sorted(corpus.rglob("*.pt2")) if corpus else []
    for number, model in enumerate(models):
        name = f"{number:05}_{model.parent.name}_{model.name}"
        if model.stat().st_size <= LARGEST_SEED:
            for target in ("model", "execution"):
                shutil.copy(model, seeds / target / name)
        if number % 10 == 0 or model.parent.parent.name == "fixtures":
            shutil.copy(model, seeds / "zip" / name)
            lower_seed(program, model, seeds, name)
    for jumps in sorted((HERE / "regressions" / "pte").glob("*.pte")):
        shutil.copy(jumps, seeds / "pte" / jumps.name)
    for array in (HERE.parent / "fixtures").rglob("*.npy"):
        if array.stat().st_size <= LARGEST_SEED:
            shutil.copy(array, seeds / "npy" / f"{array.parent.name}_{array.name}")
    try:
        vela_seed(seeds / "vela" / "vela.npz")
    except ImportError as e:
        print(f"no seed for vela: {e}")


def lower_seed(program, model, seeds, name):
    io, tosa, folder = seeds / "io.json", seeds / "tosa" / (name + ".tosa"), seeds / "package.tmp"
    lowered = subprocess.run([program, "lower", model, "-o", tosa, "--io", io], capture_output=True)
    if lowered.returncode == 0:
        with open(seeds / "vela" / name, "wb") as f:
            f.write(tosa.read_bytes()[:2000] + b"\nIO\n" + io.read_bytes())
    text = seeds / "text" / (name + ".hr")
    subprocess.run([program, "show", model, "-o", text], capture_output=True)
    text.with_name(text.name + ".data").unlink(missing_ok=True)
    for suffix, options in ((".pte", ()), (".delegated.pte", ("--delegate", "tosa"))):
        subprocess.run([program, "lower", model, "-o", seeds / "pte" / (name + suffix), *options], capture_output=True)
    subprocess.run([program, "lower", "--partition", model, "-o", folder], capture_output=True)
    if folder.exists():
        with zipfile.ZipFile(seeds / "package" / name, "w") as z:
            for file in sorted(folder.iterdir()):
                z.write(file, file.name)
        shutil.rmtree(folder)
    io.unlink(missing_ok=True)


def write_dictionary(build, path):
    """Returns the names of ops and of their arguments, and a few words of the formats."""
    listed = subprocess.run([build / "tests" / "headrace_dump_ops"], capture_output=True, text=True).stdout
    words = {word for line in listed.splitlines() for word in line.split("\t")[0:3:2] if word}
    words |= {"TOSA", "PK\\x03\\x04", "PK\\x01\\x02", "'descr': '<f4'", "fortran_order", "as_tensor", "as_ints"}
    path.write_text("".join(f'"{word}"\n' for word in sorted(words) if '"' not in word))


def fast_round(build, target, limit, work, seed):
    """Returns (executions, events seen). `limit`: the options that end the run, with their numbers."""
    command = [build / "tests" / f"headrace_fast_{target}", *map(str, limit), "--seed", str(seed),
               "--findings", work / "findings" / target, work / "corpus" / target, work / "seeds" / target]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.stderr:  # from sanitizers, and about findings
        (work / f"{target}.stderr").write_text(done.stderr[-100_000:])
    counted = re.search(r"(\d+) executions, (\d+) things seen", done.stdout)
    return (int(counted[1]), int(counted[2])) if counted else (0, 0)


def slow_round(build, target, seconds, work, seed):
    """Returns (executions, edges)."""
    program = build / "tests" / f"headrace_fuzz_{target}"
    if not program.exists():
        return 0, 0
    raw = work / "raw" / target
    raw.mkdir(parents=True, exist_ok=True)
    command = [program, f"-max_total_time={seconds}", f"-seed={seed}", f"-timeout={SANITIZED_SECONDS}", "-fork=1",
               "-ignore_crashes=1", "-ignore_timeouts=1", "-ignore_ooms=1", "-malloc_limit_mb=1024",
               "-rss_limit_mb=3000", "-max_len=131072", f"-dict={work / 'dictionary'}", f"-artifact_prefix={raw}/",
               work / "corpus" / target, work / "seeds" / target]
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1")
    said = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment).stderr
    counts = re.findall(r"^#(\d+): cov: (\d+)", said, re.M)
    for artifact in sorted(raw.iterdir()):
        keep_artifact(program, artifact, work / "findings" / target, environment)
    return (int(counts[-1][0]), int(counts[-1][1])) if counts else (0, 0)


def keep_artifact(program, artifact, findings, environment):
    """Keeps one file per finding: findings are distinguished by their reports, without numbers."""
    try:
        again = subprocess.run([program, artifact], capture_output=True, text=True, errors="replace",
                               timeout=3 * SANITIZED_SECONDS, env=environment)
        said, ended = again.stderr, again.returncode == 0
    except subprocess.TimeoutExpired:
        said, ended = "hang", False
    if not ended:
        words = re.search(r"^finding after step .*|^SUMMARY: .*|^.*runtime error: .*|^hang$", said, re.M)
        key = re.sub(r"[^A-Za-z]+", "_", words[0] if words else "unknown")[:150]
        findings.mkdir(parents=True, exist_ok=True)
        if not (findings / key).exists():
            shutil.copy(artifact, findings / key)
            (findings / f"{key}.txt").write_text(said[-6000:])
    artifact.unlink()


def minimize(build, target, finding):
    subprocess.run([build / "tests" / f"headrace_fast_{target}", "--minimize", finding], capture_output=True,
                   timeout=1800)


def check(build, work):
    """Runs the same inputs each time: without earlier findings, corpus or clock."""
    shutil.rmtree(work, ignore_errors=True)
    make_seeds(build / "examples" / "headrace", work / "seeds", None)
    for target, rounds in CHECK_ROUNDS.items():
        (work / "corpus" / target).mkdir(parents=True)
        fast, seen = fast_round(build, target, ("--rounds", rounds, "--patience", CHECK_SECONDS), work, 1)
        print(f"{target:10} {fast:9} executions {seen:9} things seen", flush=True)
        if fast == 0:
            print(f"FAILED: {target} was not executed")
            return 1
    findings = sorted(findings_in(work))
    for finding in findings:
        print(f"FAILED: {finding}: {finding.with_name(finding.name + '.txt').read_text()}")
    return 1 if findings else 0


def findings_in(work):
    return {f for f in (work / "findings").rglob("*") if f.is_file() and f.suffix not in (".txt", ".min")}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--minutes", type=float, default=60)
    p.add_argument("--work", type=pathlib.Path)
    p.add_argument("--targets", default=",".join(SHARES))
    p.add_argument("--corpus", type=pathlib.Path)
    p.add_argument("--seed", type=int, default=int(time.time()))
    p.add_argument("--check", action="store_true")
    a = p.parse_args()
    # A check must not empty the folder with the corpus of long runs.
    work = a.work or (a.build / "fuzz_check" if a.check else pathlib.Path("fuzz_work"))
    a.build, a.work = a.build.resolve(), work.resolve()
    if a.check:
        return check(a.build, a.work)
    targets = a.targets.split(",")
    print(f"seed {a.seed}")
    make_seeds(a.build / "examples" / "headrace", a.work / "seeds", a.corpus)
    write_dictionary(a.build, a.work / "dictionary")
    for target in targets:
        (a.work / "corpus" / target).mkdir(parents=True, exist_ok=True)
    begin, totals, known = time.monotonic(), {}, findings_in(a.work)
    whole = sum(SHARES[t] for t in targets)
    rounds = max(1, round(a.minutes / 60))
    for number in range(rounds):
        for target in targets:
            share = a.minutes * 60 / rounds * SHARES[target] / whole
            total = totals.setdefault(target, {"fast": 0, "seen": 0, "slow": 0, "edges": 0})
            has_slow = (a.build / "tests" / f"headrace_fuzz_{target}").exists()
            fast, seen = fast_round(a.build, target, ("--seconds", max(1, round(share * (0.3 if has_slow else 1)))),
                                    a.work, a.seed + number)
            slow, edges = slow_round(a.build, target, max(1, round(share * 0.7)), a.work, a.seed + number)
            total["fast"] += fast
            total["slow"] += slow
            total["seen"], total["edges"] = max(total["seen"], seen), max(total["edges"], edges)
            for finding in sorted(findings_in(a.work) - known):
                known.add(finding)
                minutes = (time.monotonic() - begin) / 60
                print(f"after {minutes:.0f} min, {target}: {finding}", flush=True)
                minimize(a.build, target, finding)
    print(f"{'target':10} {'fast tier':>12} {'things seen':>12} {'libFuzzer':>12} {'edges':>8}")
    for target, t in totals.items():
        print(f"{target:10} {t['fast']:12} {t['seen']:12} {t['slow']:12} {t['edges']:8}")
    (a.work / "totals.json").write_text(json.dumps(totals, indent=1))
    print(f"{len(known)} findings in {a.work / 'findings'}")
    idle = [target for target, t in totals.items() if t["fast"] + t["slow"] == 0]
    if idle:
        print(f"nothing was executed of: {', '.join(idle)}")
    return 1 if known or idle else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks `lower --batch`: files like those of single runs, whatever else is in the folder, for any number of jobs.

    batch.py PROGRAM
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import calls
from calls import MALFORMED, OK, UNSUPPORTED, USAGE, expect, on_terminal, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
MODEL = FIXTURES / "conv_bn_relu" / "model.pt2"
JOBS = (1, 2, 4)


def run(program, *arguments, status):
    """Returns what a batch prints on stderr; stdout must be empty."""
    done = subprocess.run([program, "lower", *map(str, arguments)], capture_output=True, text=True, timeout=900)
    shown = " ".join(map(str, arguments))
    expect(done.returncode == status, f"`{shown}`: exit status {done.returncode}, not {status}: {done.stderr[-300:]}")
    expect(done.stdout == "", f"`{shown}`: something on stdout")
    return done.stderr


def make_models(folder):
    """Models in nested folders and files that are not models; the status of each."""
    folder.mkdir()
    sources = sorted(FIXTURES.glob("*/model.pt2")) + sorted(ROOT.glob("examples/models/*/model.pt2"))
    for k, source in enumerate(sources):
        place = folder.joinpath(*("abc"[: k % 4]), f"{source.parent.name}.pt2")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, place)
    wrong = folder / "wrong"
    wrong.mkdir()
    (wrong / "cut.pt2").write_bytes(MODEL.read_bytes()[:5000])
    (wrong / "empty.pt2").write_bytes(b"")
    (wrong / "text.pt2").write_text("this is no archive")
    (wrong / "dangling.pt2").symlink_to("nowhere")
    (wrong / "itself.pt2").symlink_to("itself.pt2")
    # None of these is a model.
    (folder / "notes.txt").write_text("no model")
    (folder / "a" / "up").symlink_to("..", target_is_directory=True)
    (folder / "folder.pt2").mkdir()
    return [p for p in sorted(folder.rglob("*.pt2"), key=lambda p: str(p.relative_to(folder)))
            if p.is_symlink() or p.is_file()]


def lower_singly(program, models, folder):
    """For each model: its status, the printed text, and the files that were made."""
    singles = {}
    for model in models:
        out, io = folder / "single.tosa", folder / "single.json"
        done = subprocess.run([program, "lower", model, "-o", out, "--io", io], capture_output=True, text=True,
                              timeout=300)
        made = [p.read_bytes() for p in (out, io) if p.exists()]
        expect(len(made) == (2 if done.returncode == OK else 0), f"{model}: {len(made)} files")
        singles[model] = (done.returncode, done.stderr, made)
        for p in (out, io):
            p.unlink(missing_ok=True)
    return singles


def expected_text(singles):
    text = ""
    for model, (status, said, _) in singles.items():
        if status != OK:
            text += f"{model}:\n" + "".join(f"  {line}\n" for line in said.splitlines())
    return text


def check_report(path, singles, source, output):
    told = json.loads(path.read_text())
    statuses = [status for status, _, _ in singles.values()]
    expect(told["counts"] == {"models": len(statuses), "lowered": statuses.count(OK),
                              "cannot_be_lowered": statuses.count(UNSUPPORTED),
                              "cannot_be_read": statuses.count(MALFORMED), "cannot_be_written": 0},
           f"the report counts {told['counts']}")
    expect([row["model"] for row in told["models"]] == [str(m) for m in singles], "the report has other rows")
    for row, (model, (status, said, _)) in zip(told["models"], singles.items()):
        expect(row["status"] == status, f"{model}: the report says status {row['status']}")
        if status == OK:
            expect(row["output"] == str(output_of(model, source, output)), f"{model}: output {row['output']}")
            expect(row["nodes"]["in"] > 0 < row["nodes"]["out"], f"{model}: nodes {row['nodes']}")
            expect(set(row["nanoseconds"]) == {"read", "lower", "emit", "write"}, f"{model}: {row['nanoseconds']}")
            expect(row["target"].startswith("TOSA-1.0"), f"{model}: target {row['target']}")
            expect(row["macs"] >= 0 and "page" not in row, f"{model}: MACs or a page that was not asked for: {row}")
            expect("error" not in row and "refused" not in row, f"{model}: an error in the row of a success")
        else:
            expect(row["output"] is None, f"{model}: failed, but has an output")
            reasons = [row["error"]] if "error" in row else [r["reason"] for r in row["refused"]]
            expect(reasons and all(r in said for r in reasons), f"{model}: the report says {reasons}, stderr {said}")


def output_of(model, source, output, suffix=".tosa"):
    return (output / model.relative_to(source)).with_suffix(suffix)


def check_files(singles, source, output, with_io):
    wanted = {}
    for model, (status, _, made) in singles.items():
        if status == OK:
            wanted[output_of(model, source, output)] = made[0]
            if with_io:
                wanted[output_of(model, source, output, ".io.json")] = made[1]
    found = {p for p in output.rglob("*") if p.is_file()}
    expect(found == set(wanted), f"files that should not be there, or not missing: {sorted(found ^ set(wanted))[:5]}")
    for path in found & set(wanted):
        expect(path.read_bytes() == wanted[path], f"{path}: other bytes than those of a single run")
    expect(all(any(p.rglob("*.tosa")) for p in output.rglob("*") if p.is_dir()), "a folder without a model was made")


def check_batches(program, folder):
    source = folder / "models"
    models = make_models(source)
    singles = lower_singly(program, models, folder)
    statuses = [status for status, _, _ in singles.values()]
    expect({OK, UNSUPPORTED, MALFORMED} == set(statuses), f"the models give the statuses {set(statuses)}")
    failed = sum(status != OK for status in statuses)
    for jobs in JOBS:
        output, told = folder / f"out{jobs}", folder / f"report{jobs}.json"
        said = run(program, "--batch", source, "-o", output, "-j", jobs, "--report", told,
                   *(["--io-files"] if jobs > 1 else []), status=MALFORMED)
        *failures, summary = said.splitlines(keepends=True)
        expect("".join(failures) == expected_text(singles), f"-j {jobs} does not list the failures as single runs do")
        expect(summary.startswith(f"{len(models)} models in ")
               and summary.endswith(f": {len(models) - failed} lowered, {failed} failed\n"), f"summary: {summary}")
        check_files(singles, source, output, with_io=jobs > 1)
        check_report(told, singles, source, output)
    # Again into the same folder: existing outputs are replaced, and kept if a model fails.
    before = (folder / "out1" / "wrong" / "cut.tosa")
    before.parent.mkdir()
    before.write_bytes(b"before")
    run(program, "--batch", source, "-o", folder / "out1", status=MALFORMED)
    expect(before.read_bytes() == b"before", "a model that failed changed the file that was there")
    before.unlink()
    before.parent.rmdir()
    check_files(singles, source, folder / "out1", with_io=False)


def make_folder(path, **models):
    path.mkdir()
    for name, source in models.items():
        shutil.copy(source, path / f"{name}.pt2")
    return path


def check_statuses(program, folder):
    good = make_folder(folder / "good", a=MODEL, b=FIXTURES / "rnn" / "model.pt2")
    said = run(program, "--batch", good, "-o", folder / "good_out", status=OK)
    expect(said.count("\n") == 1, f"a batch without failures says: {said}")
    refused = make_folder(folder / "refused", a=MODEL, b=FIXTURES / "buffer_update" / "model.pt2")
    run(program, "--batch", refused, "-o", folder / "refused_out", status=UNSUPPORTED)
    # A folder has the name of an output: only that model fails, with a worse status than the others.
    (good / "c.pt2").write_bytes(b"")
    blocked = folder / "blocked"
    (blocked / "a.tosa" / "x").mkdir(parents=True)
    told = folder / "blocked.json"
    said = run(program, "--batch", good, "-o", blocked, "--report", told, "-j", 2, status=USAGE)
    expect(f"{good / 'a.pt2'}:\n  error: cannot write {blocked / 'a.tosa'}: " in said, f"a blocked output: {said}")
    expect([row["status"] for row in json.loads(told.read_text())["models"]] == [USAGE, OK, MALFORMED],
           "the statuses beside a blocked output")
    expect(sorted(p.name for p in blocked.iterdir()) == ["a.tosa", "b.tosa"], "files beside a blocked output")
    # A file has the name of a folder: its models fail likewise.
    deep = folder / "deep"
    deep.mkdir()
    make_folder(deep / "sub", a=MODEL)
    shutil.copy(MODEL, deep / "z.pt2")
    (folder / "deep_out").mkdir()
    (folder / "deep_out" / "sub").write_text("a file")
    said = run(program, "--batch", deep, "-o", folder / "deep_out", status=USAGE)
    expect(f"cannot write {folder / 'deep_out' / 'sub' / 'a.tosa'}: " in said and "1 lowered, 1 failed" in said,
           f"a file in the place of a folder: {said}")
    run(program, "--batch", good, "-o", folder / "r", "--report", folder / "no" / "report.json", status=USAGE)


def check_options(program, folder):
    source = make_folder(folder / "options", a=MODEL)
    out = folder / "options_out"
    for wrong in (["--dot", folder / "dot"], ["--method", f"a={MODEL}"], ["--partition"], ["--plan-memory"],
                  ["--in", MODEL.parent / "in0.npy"], ["--io", folder / "io.json"], [MODEL], ["-j", "0"], ["-j", "x"],
                  ["--target", "TOSA-9.9"]):
        calls.call(program, "lower", "--batch", source, "-o", out, *wrong, status=USAGE)
    calls.call(program, "lower", "--batch", source, status=USAGE)
    calls.call(program, "lower", MODEL, "-o", folder / "x.tosa", "-j", "2", status=USAGE, says="--batch")
    calls.call(program, "lower", MODEL, "-o", folder / "x.tosa", "--io-files", status=USAGE, says="--batch")
    empty = folder / "empty"
    empty.mkdir()
    calls.call(program, "lower", "--batch", empty, "-o", out, status=USAGE, says="no .pt2 file")
    calls.call(program, "lower", "--batch", folder / "missing", "-o", out, status=MALFORMED, says="missing")
    calls.call(program, "lower", "--batch", MODEL, "-o", out, status=MALFORMED, says="is not a directory")
    calls.call(program, "lower", "--batch", source, "-o", source / "a.pt2", status=USAGE, says="cannot write")
    expect(not out.exists(), "a wrong call made the folder of the outputs")
    # Options that apply to each model.
    wanted = folder / "single.tosa"
    options = ["--target", "TOSA-1.0+FP+INT", "--io-layout", "nhwc", "--verify"]
    calls.call(program, "lower", MODEL, "-o", wanted, *options)
    run(program, "--batch", source, "-o", out, *options, status=OK)
    expect((out / "a.tosa").read_bytes() == wanted.read_bytes(), "options do not reach the models of a batch")


def check_pages(program, folder):
    """Models have pages beside their outputs, and the report their paths from there, and MACs."""
    source = make_folder(folder / "paged", a=MODEL, b=FIXTURES / "buffer_update" / "model.pt2")
    make_folder(source / "sub", c=MODEL)
    (source / "d.pt2").write_bytes(b"no archive")
    (folder / "reports").mkdir()
    told = folder / "reports" / "told.json"
    run(program, "--batch", source, "-o", folder / "pages", "--report", told, "--page-files", status=MALFORMED)
    rows = json.loads(told.read_text())["models"]
    pages = [row.get("page") for row in rows]
    expect(pages == ["../pages/a.html", None, None, "../pages/sub/c.html"], f"the report names pages {pages}")
    expect(all((told.parent / page).exists() for page in pages if page), "a page of the report was not written")
    summary = calls.call(program, "show", folder / "pages" / "a.tosa", "--summary").stdout
    expect(f"MACs         {rows[0]['macs']:,}\n" in summary, f"the report has {rows[0]['macs']} MACs, not as {summary}")
    calls.call(program, "lower", MODEL, "-o", folder / "x.tosa", "--page-files", status=USAGE, says="--batch")


def check_terminal(program, folder):
    """On a terminal a line shows the progress; it is cleared before the failures."""
    source = make_folder(folder / "shown", **{f"m{k}": FIXTURES / "unused" / "model.pt2" for k in range(200)})
    (source / "wrong.pt2").write_bytes(b"")
    said = on_terminal([program, "lower", "--batch", source, "-o", folder / "shown_out", "-j", "2"], NO_COLOR="1")
    *_, last = said.decode().replace("\r\n", "\n").split("\r\033[K")
    expect(last.startswith(f"{source / 'wrong.pt2'}:\n  error: ") and "200 lowered, 1 failed" in last,
           f"on a terminal the batch ends with {last}")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for check in (check_batches, check_statuses, check_options, check_pages, check_terminal):
            place = folder / check.__name__
            place.mkdir()
            check(program, place)
    return report()


if __name__ == "__main__":
    sys.exit(main())

"""The end of a program: reports, and a program in which every probe is switched off."""

from __future__ import annotations

import json
from pathlib import Path

from tests.session.programs import run

PROGRAM = """
    import tracectx

    @tracectx.probe
    def work(): pass

    for _ in range(3): work()
"""


def test_without_being_asked_a_program_says_nothing_at_its_end(tmp_path: Path) -> None:
    done = run(PROGRAM, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_report_at_exit_goes_to_the_standard_output(tmp_path: Path) -> None:
    done = run(PROGRAM, cwd=tmp_path, TRACECTX_REPORT_AT_EXIT="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("tracectx: 3 executions of 1 operation in 3 traces")
    assert "program.work" in done.stdout


def test_a_report_at_exit_goes_to_a_file(tmp_path: Path) -> None:
    done = run(PROGRAM, cwd=tmp_path, TRACECTX_REPORT_AT_EXIT="report.txt")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "report.txt").read_text(encoding="utf-8").startswith("tracectx: 3 executions of 1 operation")


def test_a_file_that_is_called_json_gets_json(tmp_path: Path) -> None:
    done = run(f"{PROGRAM}\n    tracectx.configure(report_at_exit='report.json')", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    found = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert [(one["operation"], one["count"]) for one in found["operations"]] == [("program.work", 3)]


def test_a_program_that_raises_still_gets_its_report(tmp_path: Path) -> None:
    done = run(f"{PROGRAM}\n    raise SystemExit(3)", cwd=tmp_path, TRACECTX_REPORT_AT_EXIT="1")
    assert done.returncode == 3
    assert done.stdout.startswith("tracectx: 3 executions")


def test_a_report_that_cannot_be_written_does_not_change_the_exit_status(tmp_path: Path) -> None:
    done = run(PROGRAM, cwd=tmp_path, TRACECTX_REPORT_AT_EXIT="missing/report.txt")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("tracectx: no report at exit: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_program_that_never_asks_loads_neither_numpy_nor_scipy_nor_rich(tmp_path: Path) -> None:
    done = run(f"{PROGRAM}\n    import sys\n    print(sorted({{'numpy', 'scipy', 'rich'}} & set(sys.modules)))", cwd=tmp_path)
    assert done.stdout == "[]\n"


def test_switched_off_a_probe_gives_its_argument_untouched_and_nothing_is_recorded(tmp_path: Path) -> None:
    program = """
        import asyncio, functools
        import tracectx

        def function(): return 1
        class Class:
            def method(self): return 2
        prop = property(lambda self: 3)
        partial = functools.partial(function)

        code, method = function.__code__, Class.method
        assert all(tracectx.probe(one) is one for one in (function, Class, prop, partial, len))
        assert tracectx.probe(name="other", label=str)(function) is function
        assert tracectx.unprobe(function) is tracectx.propagate(function) is function
        assert function.__code__ is code and Class.method is method
        with tracectx.instrument("json.*") as instrumentation:
            assert instrumentation.operations == ()

        async def main():
            async with tracectx.span("asynchronous"):
                return function()

        with tracectx.recording() as recording, tracectx.detached(), tracectx.span("span", label="a"):
            assert asyncio.run(main()) == function() == 1
        assert recording.stats().recorded == tracectx.stats().recorded == 0
        print("done")
    """
    for off in ("0", "false", " OFF ", "no"):
        done = run(program, cwd=tmp_path, TRACECTX=off)
        assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_switched_off_wrong_arguments_are_refused_all_the_same(tmp_path: Path) -> None:
    done = run("import tracectx\ntracectx.span('')", cwd=tmp_path, TRACECTX="0")
    assert done.stderr.splitlines()[-1] == "tracectx.errors.ConfigError: the name of a span must not be empty, got ''"

"""Type checkers see a probed function with its own signature."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("typed_program.txt")


def test_mypy_reveals_the_types_that_the_program_says(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "typed_program.py").write_text(PROGRAM.read_text())
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent", "typed_program.py"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(PROGRAM.parents[2]), "MYPY_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    revealed = {int(line): shown for line, shown in re.findall(r':(\d+): note: Revealed type is "(.*)"', done.stdout)}
    wanted = {
        number: line.partition("  # ")[2]
        for number, line in enumerate(PROGRAM.read_text().splitlines(), 1)
        if line.startswith("reveal_type(")
    }
    assert {line: shown.replace("builtins.", "") for line, shown in revealed.items()} == wanted, done.stdout
    assert "error:" not in done.stdout

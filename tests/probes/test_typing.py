"""Type checkers see a probed function with its own signature."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("typed_program.py")


def test_mypy_reveals_the_types_that_the_program_says(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent", PROGRAM.name]
    done = subprocess.run(
        command,
        cwd=PROGRAM.parent,
        env={**os.environ, "MYPYPATH": str(PROGRAM.parents[2]), "MYPY_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    revealed = {int(line): shown for line, shown in re.findall(r':(\d+): note: Revealed type is "(.*)"', done.stdout)}
    wanted = {
        number: line.partition("  # ")[2]
        for number, line in enumerate(PROGRAM.read_text().splitlines(), 1)
        if line.startswith("reveal_type(")
    }
    assert {line: shown.replace("builtins.", "") for line, shown in revealed.items()} == wanted, done.stdout
    assert "error:" not in done.stdout

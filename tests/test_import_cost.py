"""What `import tracectx` and a decorated program load."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "scipy", "rich", "asyncio", "pandas", "logging")


@pytest.mark.parametrize("source", [
    "import tracectx",
    "import tracectx\n@tracectx.probe\ndef f(): pass\nfor _ in range(100_000): f()\nwith tracectx.span('s'): f()",
], ids=["import alone", "a program that never asks"])  # fmt: skip
def test_nothing_heavy_is_loaded_before_a_question_is_asked(source: str) -> None:
    program = f"{source}\nimport sys\nprint([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[]"

"""`tracectx.report()` as users call it."""

from __future__ import annotations

import subprocess
import sys


def test_a_report_can_be_asked_for_as_often_as_one_likes() -> None:
    # The folder tracectx/report has the name of the function.
    program = "import tracectx; tracectx.report(); tracectx.report(); tracectx.snapshot(); tracectx.stats().folded"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.count("nothing recorded yet") == 2

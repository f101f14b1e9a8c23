"""The recorder and the attachments of the process, and the switch that turns every probe off: `TRACECTX=0`.

Made when the first probe is put, so that `import tracectx` is cheap.
"""

from __future__ import annotations

import functools
import os

from tracectx.core.choice import recorder
from tracectx.probes.attach.choose import VARIABLE, Attachments

__all__ = ["SWITCHED_OFF", "attachments", "recorder"]

SWITCHED_OFF = os.environ.get("TRACECTX", "1").strip().lower() in {"0", "false", "no", "off"}
"""Read once: a span asks each time it is made."""


@functools.cache
def attachments() -> Attachments:
    return Attachments(recorder(), os.environ.get(VARIABLE, "auto").strip().lower() or "auto")

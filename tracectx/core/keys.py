"""The values that keys and kinds take in events, tables and snapshots. Light, since every probe loads it."""

from __future__ import annotations

FORMAT_VERSION = 1
PRECISION_BITS = 6
"""M of the log-linear histogram (DESIGN.md, section 7)."""

OTHER_NAME = "(other)"
ROOT = -1
NOT_KEPT = -2

ENDINGS = ("returned", "raised", "cancelled", "closed", "abandoned")
REASONS = ("", "evicted", "truncated", "open", "late", "limit")
"""Why a leaf has no finer key; the index is what the column `reason` of the leaves holds."""

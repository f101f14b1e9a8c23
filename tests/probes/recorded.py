"""What a test asks of a recording: how often each operation ran, how it ended, and which traces there were."""

from __future__ import annotations

from collections import Counter

from tests.support import drawn
from tracectx.core.snapshot import ENDINGS
from tracectx.probes.attach.choose import Attachments
from tracectx.session.session import Recording


class Recorded:
    def __init__(self, recording: Recording, attachments: Attachments) -> None:
        self.recording = recording
        self._attachments = attachments

    @property
    def counts(self) -> dict[str, int]:
        """Executions by the full name of their operation."""
        counts: Counter[str] = Counter()
        for (name, _), count in self._rows().items():
            counts[name] += count
        return dict(counts)

    @property
    def endings(self) -> dict[str, int]:
        """Executions by operation and ending: `shop.f raised`."""
        return {f"{name} {ending}": count for (name, ending), count in self._rows().items()}

    @property
    def traces(self) -> list[str]:
        self._attachments.settle()
        return drawn(self.recording)

    @property
    def errors(self) -> int:
        return self.recording.stats().probe_errors

    def _rows(self) -> Counter[tuple[str, str]]:
        self._attachments.settle()
        columns = self.recording.columns()
        leaves = columns.leaves
        rows: Counter[tuple[str, str]] = Counter()
        for row in range(len(leaves.operation)):
            for ending, column in zip(ENDINGS, leaves.endings, strict=True):
                if column[row]:
                    rows[columns.operations[leaves.operation[row]], ending] += column[row]
        return rows

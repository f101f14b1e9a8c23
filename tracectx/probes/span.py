"""`span`: a block of code as an operation.

A span may be entered again while it is open, by the same code or by other threads and tasks; each entry is closed by
the exit of the same frame.
"""

from __future__ import annotations

import sys
from types import TracebackType

from tracectx.core.interface import RETURNED, Token
from tracectx.probes.attach.site import ending_of
from tracectx.probes.labels import labelled
from tracectx.probes.naming import component_of
from tracectx.probes.probe import checked_name, checked_root
from tracectx.probes.runtime import SWITCHED_OFF, recorder

_MAX_KNOWN = 10_000  # names of spans may be without end

_known: dict[str, int] = {}
_recorder = recorder()


class span:
    """Records the block `with span("parse"):` (or `async with`) as an execution. `label` is a str, int or None."""

    __slots__ = ("_open", "_operation", "_root")

    def __init__(self, name: str, *, root: bool = False, label: str | int | None = None) -> None:
        operation = _known.get(name) if label is None and name.__class__ is str else None
        self._operation = _operation_of(name, label) if operation is None else operation
        self._root = root if root is True or root is False else checked_root(root)
        self._open: dict[int, list[Token | None]] = {}  # by the frame that entered

    def __enter__(self) -> span:
        return self._enter(id(sys._getframe(1)))

    def __exit__(self, kind: object, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._exit(id(sys._getframe(1)), error)

    async def __aenter__(self) -> span:
        return self._enter(id(sys._getframe(1)))

    async def __aexit__(self, kind: object, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._exit(id(sys._getframe(1)), error)

    def _enter(self, frame: int) -> span:
        if not SWITCHED_OFF:
            self._open.setdefault(frame, []).append(_recorder.enter_span(self._operation, self._root))
        return self

    def _exit(self, frame: int, error: BaseException | None) -> None:
        tokens = self._open.get(frame)
        if tokens is None:  # entered by another frame, as `ExitStack` does: the one that was opened last
            frame, tokens = next(reversed(self._open.items()), (0, []))
        token = tokens.pop() if tokens else None
        if not tokens:
            self._open.pop(frame, None)
        if token is not None:
            _recorder.leave_span(token, RETURNED if error is None else ending_of(error, resumable=True))


def _operation_of(name: str, label: str | int | None) -> int:
    checked_name(name, "a span")
    operation = labelled(_recorder, name, component_of(name), label)
    if label is None and len(_known) < _MAX_KNOWN:
        _known[name] = operation
    return operation

"""Labels: they make operations of their own out of one, `shop.search[short]`, up to a limit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TypeAlias

from tracectx.config import Options
from tracectx.core.interface import Recorder
from tracectx.core.keys import OTHER_NAME
from tracectx.errors import ProbeError

LabelFunction: TypeAlias = "Callable[..., str | int | None]"

_max_labels = Options().max_labels
_known: dict[str, dict[str, int]] = {}  # by the name of the operation, then of the label
_MAX_LABELLED = 10_000  # names in `_known`, since the names of spans may be without end
_NONE: dict[str, int] = {}
_lock = threading.RLock()  # a signal handler or `__del__` may come in between, with a label of its own


def set_max_labels(limit: int) -> None:
    """How many labels one operation may get from now on; those it has stay."""
    global _max_labels  # noqa: PLW0603  # one value for the process, which the session sets
    _max_labels = limit


def forget_labels() -> None:
    """Every operation has its full number of labels again."""
    with _lock:
        _known.clear()


def labelled(recorder: Recorder, name: str, component: str, label: str | int | None) -> int:
    """The operation of `name` with that label; None is the plain one. Over the limit: `name[(other)]`."""
    if label is None:
        return recorder.operation(name, component)
    if not isinstance(label, (str, int)):
        raise ProbeError(f"a label must be a str, an int or None, got {label!r} for {name}")
    text = str(label)
    known = _known.get(name, _NONE).get(text)
    if known is not None:
        return known
    with _lock:
        if name not in _known and len(_known) >= _MAX_LABELLED:
            return recorder.operation(name, component)
        labels = _known.setdefault(name, {})
        if len(labels) >= _max_labels:
            return recorder.operation(f"{name}[{OTHER_NAME}]", component)
        labels[text] = recorder.operation(f"{name}[{text}]", component)
        return labels[text]


class Labeller:
    """Turns the arguments of a call into its operation, by the user's label function. Never raises an `Exception`."""

    __slots__ = ("_component", "_function", "_name", "_recorder")

    def __init__(self, recorder: Recorder, name: str, component: str, function: LabelFunction) -> None:
        self._recorder = recorder
        self._name = name
        self._component = component
        self._function = function

    def __call__(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> int:
        try:
            return labelled(self._recorder, self._name, self._component, self._function(*args, **kwargs))
        except Exception as error:
            self._recorder.probe_failed(error)
            return self._recorder.operation(self._name, self._component)

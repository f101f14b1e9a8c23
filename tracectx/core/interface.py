"""What a core offers to the layers above it. Both cores implement `Recorder`; nothing here runs.

All methods of a recorder may be called on any thread, at any moment, also inside a signal handler, a `__del__` or a weak
reference's callback. None of them raises.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

RETURNED, RAISED, CANCELLED, CLOSED, ABANDONED = range(5)
"""Kinds of ending, as indices into `tracectx.core.keys.ENDINGS`."""

COROUTINE, GENERATOR, ASYNC_GENERATOR = range(3)
"""Kinds of resumable execution. Only a coroutine writes the context variable."""


# Any: each core has types of its own for these, and the layers above only hand them back.
Position: TypeAlias = Any
"""A place in a trace from which asynchronous children can hang. Holding it keeps the trace open."""
Token: TypeAlias = Any
"""An open synchronous execution or span, to be given back to `leave` or `leave_span`."""
Restorable: TypeAlias = Any
"""What `adopt` or `detach` changed."""


class Resumable(Protocol):
    """One execution of a coroutine, generator or async generator.

    `resume` before each segment (also before `throw` and `close`), then exactly one of `suspend` and `finish` after it.
    """

    def resume(self) -> None: ...

    def suspend(self, yielded: bool) -> None:
        """The segment ended. `yielded`: it handed out an item (generators); else it waits (`await`)."""

    def finish(self, ending: int) -> None:
        """The execution ended within a segment."""

    def vanish(self, ending: int) -> None:
        """The object is gone, or was closed, without running again: outside of any segment. Idempotent."""


class Recorder(Protocol):
    """The producer side of a core."""

    enabled: bool

    def operation(self, name: str, component: str) -> int:
        """The id of an operation, the same for the same name. Over `max_operations`: that of `(other)`."""

    def enter(self, operation: int, root: bool = False) -> Token | None:
        """A synchronous execution begins. None: not recorded, nothing to leave."""

    def leave(self, token: Token, ending: int) -> None: ...

    def enter_span(self, operation: int, root: bool = False) -> Token | None:
        """As `enter`, and writes the context variable, so that what is scheduled inside hangs from the span."""

    def leave_span(self, token: Token, ending: int) -> None: ...

    def resumable(self, operation: int, kind: int, root: bool = False) -> Resumable | None:
        """Nothing is recorded before its first `resume`. None: not recorded."""

    def position(self) -> Position | None:
        """Where the caller is now; None outside every trace."""

    def adopt(self, position: Position | None) -> Restorable:
        """Runs what follows as asynchronous children of `position` (None: as roots); give the result to `restore`."""

    def restore(self, adopted: Restorable) -> None: ...

    def detach(self) -> Restorable:
        """What starts from here on is a trace of its own; give the result to `reattach`."""

    def reattach(self, detached: Restorable) -> None: ...

    def task_starting(self, position: Position | None) -> None:
        """A task is about to be created whose outermost executions hang from `position`: an eager one runs at once."""

    def task_created(self, task: object, position: Position | None) -> None:
        """The task that `task_starting` announced exists."""

    def probe_failed(self, error: BaseException) -> None:
        """Counts an error inside tracectx or in a user's label, and reports the first once."""

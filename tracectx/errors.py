"""The exceptions of tracectx. Owned here alone; imported by every layer, imports nothing."""

from __future__ import annotations


class TracectxError(Exception):
    """Base of every error that tracectx raises."""


class ConfigError(TracectxError, ValueError):
    """An option, argument or combination of recordings that cannot be used."""


class ProbeError(TracectxError, TypeError):
    """Something that cannot be probed; raised where the probe is put, never where it runs."""


class FormatError(TracectxError, ValueError):
    """A file that cannot be read: says where, what was expected and what came."""


class UnknownOperation(TracectxError, KeyError):
    """An operation that the tree does not hold; the message names the nearest ones."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument; a sentence should stay one.
        return str(self.args[0]) if self.args else ""

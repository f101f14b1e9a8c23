"""The events that a probe writes and the fold reads: kinds, fields and what each promises.

An event is a tuple `(kind, strand, operand, extra, value)`. The native core packs the same events into 16 bytes, the strand
being implied by a switch event. Events of one ring are in the order of its thread. Between rings only this holds: an event
that names something made on another thread (a strand, a position, a segment) was written after what it names; the fold
waits with a ring until what it names has been read.

| kind    | operand          | extra         | value     | meaning                                                        |
|---------|------------------|---------------|-----------|----------------------------------------------------------------|
| RECORD  | recording id     |               |           | root executions of the strand belong to that recording         |
| OPEN    | position id or 0 |               |           | a strand; its outermost executions hang from the position      |
| UNDER   | parent strand    | kind          |           | the strand of a resumable; hangs from what runs on the parent  |
| ENTER   | operation id     | open traces   | time (ns) | an execution begins on top of the strand                       |
| EXIT    | ending           |               | time (ns) | the topmost execution of the strand ends                       |
| RESUME  | segments before  |               | time (ns) | a resumable runs again                                         |
| SUSPEND | 1: handed out    |               | time (ns) | its segment ended: an item was handed out, or it waits         |
| FINISH  | ending           |               | time (ns) | the resumable ended within a segment; its strand is gone       |
| VANISH  | ending           | segments      | time (ns) | the resumable is gone without running again; so is its strand  |
| NAME    | position id      |               |           | the topmost execution (else what the strand hangs from) is held|
| HOLE    | executions lost  |               |           | executions below the topmost one were not recorded             |

The ends of things that may die on any thread are not events of a ring: `Death` says what they are. The fold takes a death into
account once it has read every event that was written before it.
"""

from __future__ import annotations

from typing import TypeAlias

Event: TypeAlias = "tuple[int, int, int, int, int]"

Death: TypeAlias = "tuple[int, int]"
"""(kind, id): nobody holds a position any more, the owner of a strand is gone, nobody holds a closed recording."""

RECORD, OPEN, UNDER, ENTER, EXIT, RESUME, SUSPEND, FINISH, VANISH, NAME, HOLE = range(11)
POSITION_DEATH, STRAND_DEATH, RECORDING_DEATH = range(3)

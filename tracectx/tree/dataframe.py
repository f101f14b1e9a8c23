"""The contexts of one level as a pandas data frame. pandas is imported when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracectx.core.snapshot import ENDINGS, REASONS, SummaryColumns
from tracectx.errors import ConfigError
from tracectx.stats.histogram_arrays import Floats, Ints, middles_of
from tracectx.stats.moments import NS_PER_SECOND, mean, rank_of, std
from tracectx.tree.arrays import ints, wides
from tracectx.tree.contents import Contents
from tracectx.tree.levels import CALLER, LEVELS, STACK, SUBTREE, TRACE

if TYPE_CHECKING:
    import pandas as pd

_QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


def dataframe(contents: Contents, level: int) -> pd.DataFrame:
    """One row for each context; times in seconds. Columns are those of `Context`, times with `self_` for self time."""
    try:
        import pandas as pd  # an extra
    except ImportError as error:
        raise ConfigError(f"to_dataframe needs pandas ({error}): pip install 'tracectx[pandas]'") from None
    table = contents.level(level)
    rows, order = table.rows, table.order
    columns: dict[str, object] = {"level": np.full(len(order), LEVELS[level], object)}
    columns |= _keys(contents, level, order)
    columns["count"] = ints(rows.count)[order]
    columns |= {kind: ints(column)[order] for kind, column in zip(ENDINGS, rows.endings, strict=True)}
    columns |= {name: np.asarray(getattr(rows, name))[order] for name in ("resumptions", "suspended_ns", "outermost_total_ns")}
    bits = contents.snapshot.info.precision_bits
    for prefix, summary in (("", rows.response), ("self_", rows.self_time)):
        figures = _figures(summary, ints(rows.count), bits)
        columns |= {f"{prefix}{name}": values[order] for name, values in figures.items()}
    return pd.DataFrame(columns)


def _keys(contents: Contents, level: int, order: Ints) -> dict[str, object]:
    table = contents.level(level)
    rows, is_other = table.rows, table.is_other[order]
    keys: dict[str, object] = {"operation": [contents.operation_name(id) for id in ints(rows.operation)[order].tolist()]}
    if level >= CALLER:
        keys["caller"] = [contents.operation_name(id) for id in ints(rows.caller)[order].tolist()]
    if level >= STACK:
        stacks = ints(rows.stack)[order].tolist()
        names = {id: contents.stack_names(id) for id in set(stacks) if id >= 0}
        keys["stack"] = [names.get(id) for id in stacks]
    if level >= SUBTREE:
        shapes = ints(rows.trace if level == TRACE else rows.subtree)[order].tolist()
        keys["shape"] = [contents.call_tree(id) if id >= 0 else None for id in shapes]
    if level == TRACE:
        keys["position"] = [place if place >= 0 else None for place in ints(rows.position)[order].tolist()]
    reasons = ints(rows.reason)[order].tolist()
    keys["is_other"] = is_other
    keys["other_reason"] = [REASONS[reason] if other else None for reason, other in zip(reasons, is_other, strict=True)]
    return keys


def _figures(summary: SummaryColumns, counts: Ints, precision_bits: int) -> dict[str, Floats]:
    totals, squares = wides(summary.sum_low, summary.sum_high), wides(summary.square_low, summary.square_high)
    rows = list(zip(counts.tolist(), totals, squares, strict=True))
    return {
        "total": np.array([total / NS_PER_SECOND for total in totals]),
        "mean": np.array([mean(count * NS_PER_SECOND, total) for count, total, _ in rows]),
        "std": np.array([std(*row) / NS_PER_SECOND for row in rows]),
        "min": ints(summary.minimum) / NS_PER_SECOND,
        "max": ints(summary.maximum) / NS_PER_SECOND,
        **{name: _quantiles(summary, counts, q, precision_bits) for name, q in _QUANTILES.items()},
    }


def _quantiles(summary: SummaryColumns, counts: Ints, q: float, precision_bits: int) -> Floats:
    """`TimingModel.quantile` of every row: one search in the running count over all rows."""
    if not len(counts):
        return np.zeros(0)
    ranks = np.array([rank_of(q, count) for count in counts.tolist()])
    before = np.cumsum(counts) - counts
    entries = np.searchsorted(np.cumsum(ints(summary.histogram.count)), before + ranks)
    minimum, maximum = ints(summary.minimum), ints(summary.maximum)
    found = np.clip(middles_of(ints(summary.histogram.bucket)[entries], precision_bits), minimum, maximum)
    found = np.where(ranks == 1, minimum, np.where(ranks == counts, maximum, found))
    return found / NS_PER_SECOND

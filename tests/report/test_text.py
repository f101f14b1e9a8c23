"""The text report, word for word. Figures are done by hand from the times in `tests.report.trees`."""

from __future__ import annotations

import io

import pytest

from tests.report.trees import MS, helped, loops, orders, text_of, with_info, without_chance
from tracectx.report.write import report
from tracectx.testing import fold

# Of 160 ms of self time inserting takes 60, ordering 30 x 1 + 10 x 3, checking 40 x 1. Orders have a mean of
# (30 x 2 + 10 x 10) / 40 = 4 ms and a std of sqrt((30 x 4 + 10 x 100) / 40 - 16) = sqrt(12); their median is the middle of its
# bucket, [1998848, 2015232) ns.
ORDERS = """\
tracectx: 90 executions of 3 operations in 40 traces

operation    count  self     mean      p50      p95      p99      std  contexts  explained %
db.insert       10  38 %  6.00 ms  6.00 ms  6.00 ms  6.00 ms        0   1/1/1/1            -
Order.new       40  38 %  4.00 ms  2.01 ms  10.0 ms  10.0 ms  3.46 ms   1/1/2/2  -/-/100/100
Order.check     40  25 %  1.00 ms  1.00 ms  1.00 ms  1.00 ms        0   1/1/1/2            -
               contexts, and % of std that they explain beyond chance: by caller/stack/subtree/trace

Why is Order.new sometimes slow? The calls made inside explain 100 % of its standard deviation
  beyond chance (100 % in all; a random split: N %).
  share count    mean     p50  2.00 ms ···· 10.0 ms
   25 %    10 10.0 ms 10.0 ms                     █  calls db.insert
   75 %    30 2.00 ms 2.00 ms  █                     does not call db.insert

Recording (custom clock, {core} core, literal): nothing lost; a probe costs about 0.
More: report(operation='NAME'), report(operations=50, contexts=20), report(format='json').
"""

# 20 each of 2, 4 and 8 ms: in the logarithm 4 is half way from 2 to 8.
HELPED = """\
   33 %    20 8.00 ms 8.00 ms                     █  called from b (a root)
   33 %    20 4.00 ms 4.00 ms            █           called from b ← c
   33 %    20 2.00 ms 2.00 ms  █                     called from a
"""

# From b 40 with 4 and 8 ms: mean 6; the median is the middle of the bucket [3997696, 4030464) ns.
HELPED_BY_CALLER = """\
   67 %    40 6.00 ms 4.01 ms            █        █  called from b
   33 %    20 2.00 ms 2.00 ms  █                     called from a
"""


def test_the_report_says_which_operations_take_the_time_and_why_one_is_sometimes_slow() -> None:
    tree = orders()
    assert without_chance(text_of(tree)) == ORDERS.format(core=tree.info.cores[0])


def test_a_path_is_as_long_as_it_needs_to_be_to_tell_the_contexts_apart() -> None:
    text = text_of(helped(), operation="h")
    assert "The path on which it is called explains 100 % of its standard deviation" in text
    assert HELPED in text


def test_another_level_than_the_best_can_be_looked_at() -> None:
    text = text_of(helped(), operation="h", level="caller")
    # The std of all is sqrt(28 - 196/9) = 2.494; within b 2, within a 0: 1 - (40 x 2) / (60 x 2.494) = 46.5 %.
    assert "Who calls it explains 46 % of its standard deviation" in text
    assert HELPED_BY_CALLER in text


def test_bucketed_loops_are_told_as_ranges_and_exact_ones_as_numbers() -> None:
    bucketed, exact = text_of(loops("bucketed"), operation="a"), text_of(loops("exact"), operation="a")
    assert "  calls q 2 to 3 times; returns\n" in bucketed
    assert "  calls q 2 times; returns\n" in exact
    assert "  calls q 3 times; returns\n" in exact
    for text in (bucketed, exact):
        assert "  calls q once; returns\n" in text
        assert "  does not call q; raises\n" in text


def test_what_is_not_shown_is_counted() -> None:
    text = text_of(helped(), operations=1, contexts=2)
    # h has 20 x (2 + 8 + 4) = 280 of 360 ms; the three others have the rest.
    assert "\n… and 3 more operations with 22 % of the self time\n" in text
    assert " … 1 more context with 20 executions, mean " in text
    assert "Why is" not in text_of(helped(), findings=0)


def test_an_operation_alone_has_no_hint_at_others() -> None:
    text = text_of(helped(), operation="h")
    assert "More:" not in text
    assert "more operation" not in text


def test_where_nothing_is_explained_the_report_says_so() -> None:
    tree = fold([("a", [7 * MS])] * 50)
    assert "\nNo operation has contexts whose times differ by more than chance.\n" in text_of(tree)
    assert "\nIt has no contexts whose times differ by more than chance.\n" in text_of(tree, operation="a")


def test_one_of_a_thing_is_in_the_singular() -> None:
    assert text_of(fold([("a", [5])])).startswith("tracectx: 1 execution of 1 operation in 1 trace\n")


def test_an_empty_recording_says_what_to_do() -> None:
    tree = fold([])
    assert text_of(tree) == (
        "tracectx: nothing recorded yet.\n"
        "Decorate a function with @tracectx.probe, or name what to record: tracectx.instrument('your_package.*').\n"
        f"Recording (custom clock, {tree.info.cores[0]} core, literal): nothing lost; a probe costs about 0.\n"
    )


@pytest.mark.parametrize(
    ("counter", "number", "words"),
    [
        ("dropped", 1, "1 execution dropped"),
        ("dropped", 1_200, "1,200 executions dropped"),
        ("dropped_traces", 2, "2 traces dropped"),
        ("truncated_traces", 1, "1 trace truncated"),
        ("late_executions", 2, "2 late executions"),
        ("unfinished", 1, "1 unfinished execution"),
        ("open", 3, "3 executions still open"),
        ("sampled_out_traces", 4, "4 traces sampled out"),
        ("evicted_classes", 2, "2 rare trace classes evicted"),
        ("vanished_executions", 2, "2 executions vanished by a reset"),
        ("clock_steps", 1, "1 step back of the clock"),
        ("probe_errors", 1, "1 error in probes"),
    ],
)
def test_what_was_lost_is_named(counter: str, number: int, words: str) -> None:
    tree = orders()
    counters = {**tree.info.counters, counter: number}
    assert f": {words}; a probe" in " ".join(text_of(with_info(tree, counters=counters)).split())


def test_several_losses_stand_together_with_the_cost_of_a_probe() -> None:
    tree = orders()
    counters = {**tree.info.counters, "dropped": 7, "late_executions": 1}
    text = text_of(with_info(tree, counters=counters, probe_cost_ns=1_250))
    assert ": 7 executions dropped, 1 late execution; a probe costs about 1.25 µs." in " ".join(text.split())


def test_operations_of_which_the_probe_is_a_good_part_are_named() -> None:
    # A fifth of 1 ms is less than 0.3 ms; orders have 60 / 40 = 1.5 ms of self time: a fifth of it is not.
    text = text_of(with_info(orders(), probe_cost_ns=299_999))
    assert "a probe costs about 300 µs; that is 20 % or more of the self time of Order.check." in " ".join(text.split())


def test_there_are_no_colours_and_no_trailing_blanks_outside_a_terminal() -> None:
    for text in (text_of(orders()), text_of(helped()), text_of(fold([]))):
        assert "\x1b" not in text
        assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("width", [80, 100, 140])
def test_no_line_is_wider_than_it_may_be(width: int) -> None:
    calls = ", ".join(f"package.module.operation_with_a_long_name_{number}" for number in range(20))
    traces = [(f"package.module.a({calls})", [9 * MS, *[0] * 20])] * 30 + [("package.module.a", [MS])] * 30
    lines = text_of(fold(traces), width=width).splitlines()
    assert max(map(len, lines)) <= max(
        width, len("More: report(operation='NAME'), report(operations=50, contexts=20), report(format='json').")
    )


def test_a_stream_that_has_no_blocks_gets_characters_that_it_has() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", newline="\n")
    report(with_info(helped(), probe_cost_ns=1_250), file=stream, operation="h")
    stream.flush()
    text = raw.getvalue().decode("ascii")
    assert "   33 %    20 8.00 ms 8.00 ms                     @  called from b (a root)\n" in text
    assert "   33 %    20 4.00 ms 4.00 ms            @           called from b <- c\n" in text
    assert "a probe costs about 1.25 us" in " ".join(text.split())

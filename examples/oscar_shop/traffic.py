"""Opens the shop in this process and sends the requests of its users to it, on N threads.

Each thread has users of its own: two threads that shared an account would share its basket.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.db import connections
from django.template import engines
from django.utils.module_loading import import_string

from examples.oscar_shop.data import ACCOUNTS, copy_shop, shop_environment
from examples.oscar_shop.users import Shelf, requests_of


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run. `errors` are responses of status 400 and above, in words."""

    requests: int
    errors: Sequence[str]
    wall_seconds: float
    cpu_seconds: float


@contextmanager
def open_shop() -> Iterator[Shelf]:
    """Sets Django up over a fresh copy of the shop; once in a process.

    Everything that requests need is imported before the body runs, so that what instruments oscar there finds all of it.
    """
    with tempfile.TemporaryDirectory(prefix="oscar-shop-") as folder:
        copy_shop(Path(folder))
        os.environ.update(shop_environment(Path(folder)))
        django.setup()
        _import_what_requests_need()
        try:
            yield Shelf.read()
        finally:
            connections.close_all()


def send_requests(shelf: Shelf, requests: int, threads: int, seed: int) -> Outcome:
    """Sends `requests` in all, shared out evenly. Equal seeds send equal requests."""
    shares = [requests // threads + (number < requests % threads) for number in range(threads)]
    wall_start, cpu_start = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(threads, thread_name_prefix="user") as pool:
        futures = [
            pool.submit(_send, shelf, share, range(number, ACCOUNTS, threads), random.Random(f"{seed}/{number}"))
            for number, share in enumerate(shares)
        ]
    errors = [error for future in futures for error in future.result()]
    return Outcome(requests, errors, time.perf_counter() - wall_start, time.process_time() - cpu_start)


def _import_what_requests_need() -> None:
    import_module(settings.ROOT_URLCONF)
    import_module("oscar.apps.search.search_indexes")
    engines.all()  # imports the libraries of template tags
    context_processors = settings.TEMPLATES[0]["OPTIONS"]["context_processors"]
    for name in [*settings.MIDDLEWARE, *settings.AUTHENTICATION_BACKENDS, *context_processors]:
        import_string(name)


def _send(shelf: Shelf, requests: int, accounts: Sequence[int], rng: random.Random) -> list[str]:
    try:
        responses = islice(requests_of(accounts, shelf, rng), requests)
        return [_in_words(response) for response in responses if response.status_code >= 400]
    finally:
        connections.close_all()


def _in_words(response: Any) -> str:  # Any: Django is untyped
    cause = response.exc_info[1] if response.exc_info else ""
    return f"{response.status_code} {cause!r} from {response.request['PATH_INFO']}"

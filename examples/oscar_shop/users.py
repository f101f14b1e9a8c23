"""The users of the shop: a Markov chain over what a user does next, and the requests that each step sends.

Everything is drawn from the generator that a user is given, so equal seeds send equal requests. One thread per visit.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.test import Client
from django.urls import reverse
from oscar.core.loading import get_model

from examples.oscar_shop.data import ANIMALS, PASSWORD, email_of

NEXT_STEPS: Mapping[str, Mapping[str, int]] = {
    "start": {"home": 60, "category": 25, "search": 15},
    "home": {"category": 45, "product": 25, "search": 25, "exit": 5},
    "category": {"product": 60, "category": 20, "search": 10, "exit": 10},
    "search": {"product": 60, "search": 15, "category": 15, "exit": 10},
    "product": {"add": 40, "category": 25, "search": 15, "product": 10, "exit": 10},
    "add": {"basket": 50, "category": 30, "search": 20},
    "basket": {"login": 60, "category": 30, "exit": 10},
    "login": {"checkout": 60, "account": 25, "home": 15},
    "account": {"checkout": 50, "category": 40, "exit": 10},
    "checkout": {"home": 40, "account": 20, "exit": 40},
}
"""Per step, the steps that may follow and their weights. Every step but `start` and `exit` sends requests."""

ADDRESS = {
    "first_name": "Ann",
    "last_name": "Other",
    "line1": "1 Egg Street",
    "line4": "London",
    "postcode": "N12 9RT",
    "country": "GB",
}

ACCOUNT_PAGES = ("customer:summary", "customer:order-list", "customer:address-list", "customer:profile-view")


@dataclass(frozen=True, slots=True)
class Shelf:
    """What users can point at, read once from the database, in a fixed order."""

    product_urls: Sequence[str]
    add_urls: Sequence[str]
    category_urls: Sequence[str]

    @classmethod
    def read(cls) -> Shelf:
        products = get_model("catalogue", "Product").objects.order_by("id")
        categories = get_model("catalogue", "Category").objects.order_by("path")
        return cls(
            product_urls=[product.get_absolute_url() for product in products],
            add_urls=[reverse("basket:add", kwargs={"pk": product.pk}) for product in products],
            category_urls=[category.get_absolute_url() for category in categories],
        )


def requests_of(accounts: Sequence[int], shelf: Shelf, rng: random.Random) -> Iterator[Any]:  # Any: Django is untyped
    """The responses to an endless row of visits by the people who own the accounts; each is asked for when it is drawn."""
    while True:
        yield from Visit(rng.choice(accounts), shelf, rng).responses()


class Visit:
    """One person's way through the shop, in a fresh browser, logged out at first."""

    def __init__(self, account: int, shelf: Shelf, rng: random.Random) -> None:
        self._email = email_of(account)
        self._shelf = shelf
        self._rng = rng
        self._browser = Client(raise_request_exception=False)  # an error of the shop is a response, as for real users

    def responses(self) -> Iterator[Any]:  # Any: as in requests_of, and so below
        step = self._step_after("start")
        while step != "exit":
            yield from getattr(self, f"_{step}")()
            step = self._step_after(step)

    def _step_after(self, step: str) -> str:
        choices = NEXT_STEPS[step]
        return self._rng.choices(list(choices), weights=list(choices.values()))[0]

    def _home(self) -> Iterator[Any]:
        yield self._browser.get(reverse("catalogue:index"))

    def _category(self) -> Iterator[Any]:
        yield self._browser.get(self._rng.choice(self._shelf.category_urls))

    def _search(self) -> Iterator[Any]:
        wanted = self._rng.choice([*ANIMALS, f"Pet {self._rng.randrange(20)}"])
        yield self._browser.get(reverse("search:search"), {"q": wanted})

    def _product(self) -> Iterator[Any]:
        yield self._browser.get(self._rng.choice(self._shelf.product_urls))

    def _add(self) -> Iterator[Any]:
        quantity = self._rng.randint(1, 3)
        yield self._browser.post(self._rng.choice(self._shelf.add_urls), {"quantity": quantity})

    def _basket(self) -> Iterator[Any]:
        yield self._browser.get(reverse("basket:summary"))

    def _login(self) -> Iterator[Any]:
        form = {
            "login-username": self._email,
            "login-password": PASSWORD,
            "login_submit": "Log In",
        }
        yield self._browser.post(reverse("customer:login"), form)

    def _account(self) -> Iterator[Any]:
        yield self._browser.get(reverse(self._rng.choice(ACCOUNT_PAGES)))

    def _checkout(self) -> Iterator[Any]:
        """From the basket to the order, as a browser that follows the shop's redirects would go."""
        yield self._browser.get(reverse("checkout:index"))
        yield self._browser.get(reverse("checkout:shipping-address"))
        yield self._browser.post(reverse("checkout:shipping-address"), ADDRESS)
        yield self._browser.get(reverse("checkout:shipping-method"))
        yield self._browser.get(reverse("checkout:payment-method"))
        yield self._browser.get(reverse("checkout:preview"))
        yield self._browser.post(reverse("checkout:preview"), {"action": "place_order"})
        yield self._browser.get(reverse("checkout:thank-you"))

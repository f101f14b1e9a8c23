"""The shop's database: built once per version of this file and of what it runs on, then copied for each run.

`python -m examples.oscar_shop.data FOLDER` builds it, in a process of its own, so that a run that finds the cache and a
run that has to build it start alike.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

import django
import oscar
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connections
from oscar.core.loading import get_model

ACCOUNTS = 20
PRODUCTS = 200
PASSWORD = "correct horse"
ANIMALS = ("Fish", "Dogs", "Reptiles", "Cats", "Birds")
SIZES = ("Small", "Medium", "Large")

_ROOT = Path(__file__).resolve().parents[2]
_DISTRIBUTIONS = ("Django", "django-oscar", "django-treebeard", "django-haystack", "sorl-thumbnail")


def email_of(account: int) -> str:
    return f"user{account}@example.com"


def copy_shop(folder: Path) -> None:
    """Puts a fresh copy of the shop into `folder`. Builds its database first when nobody has yet (about a minute)."""
    cached = Path(tempfile.gettempdir()) / f"tracectx-oscar-shop-{_cache_key()}"
    if not cached.is_dir():
        _build(cached)
    shutil.copy(cached / "shop.sqlite3", folder)
    # Oscar puts this file there when it first misses it, and fails if another thread is quicker.
    (folder / "media").mkdir()
    shutil.copy(Path(oscar.__file__).parent / "static/oscar/img/image_not_found.jpg", folder / "media")


def shop_environment(folder: Path) -> dict[str, str]:
    """The environment of a process that runs the shop in `folder`."""
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "examples.oscar_shop.settings",
        "OSCAR_SHOP_FOLDER": str(folder),
    }


def _cache_key() -> str:
    sources = [Path(__file__).read_bytes(), Path(__file__).with_name("settings.py").read_bytes()]
    versions = [f"{name}=={version(name)}".encode() for name in _DISTRIBUTIONS]
    return hashlib.sha256(b"\0".join(sources + versions)).hexdigest()[:16]


def _build(cached: Path) -> None:
    """Builds beside the final place and moves it there whole, since several processes may build at once."""
    building = Path(tempfile.mkdtemp(prefix=f"{cached.name}-", dir=cached.parent))
    command = [sys.executable, "-W", "ignore", "-m", "examples.oscar_shop.data", str(building)]
    try:
        subprocess.run(command, cwd=_ROOT, env=shop_environment(building), check=True)
        building.rename(cached)
    except OSError:
        if not cached.is_dir():
            raise
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _fill() -> None:
    """Migrates and fills the database that the settings name."""
    django.setup()
    call_command("migrate", verbosity=0)
    _create_country()
    _create_catalogue(random.Random(1))
    _create_accounts()
    connections.close_all()  # folds SQLite's write-ahead log into the file, which is copied alone


def _create_country() -> None:
    get_model("address", "Country").objects.create(
        iso_3166_1_a2="GB",
        iso_3166_1_a3="GBR",
        iso_3166_1_numeric="826",
        printable_name="United Kingdom",
        name="UNITED KINGDOM",
        is_shipping_country=True,
    )


def _create_catalogue(rng: random.Random) -> None:
    roots = [get_model("catalogue", "Category").add_root(name=animal) for animal in ANIMALS]
    categories = [root.add_child(name=size) for root in roots for size in SIZES]
    pet = get_model("catalogue", "ProductClass").objects.create(name="Pet", requires_shipping=True, track_stock=False)
    partner = get_model("partner", "Partner").objects.create(name="Breeder")
    for number in range(PRODUCTS):
        product = get_model("catalogue", "Product").objects.create(
            title=f"Pet {number}",
            product_class=pet,
            upc=f"upc-{number}",
            structure="standalone",
            description="A pet like no other. " * 10,
        )
        get_model("catalogue", "ProductCategory").objects.create(product=product, category=rng.choice(categories))
        get_model("partner", "StockRecord").objects.create(
            product=product,
            partner=partner,
            partner_sku=f"sku-{number}",
            price_currency="GBP",
            price=Decimal(rng.randint(5, 90)),
            num_in_stock=10**6,
        )


def _create_accounts() -> None:
    for account in range(ACCOUNTS):
        get_user_model().objects.create_user(username=f"user{account}", email=email_of(account), password=PASSWORD)


if __name__ == "__main__":
    _fill()

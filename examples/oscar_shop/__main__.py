"""`python -m examples.oscar_shop`, from the repository's root."""

from __future__ import annotations

import sys

from examples.oscar_shop.main import main

sys.exit(main())

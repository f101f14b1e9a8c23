"""A real web shop (django-oscar) under a seeded stream of users, instrumented by name without touching its code.

From the repository's root, after `pip install -e ".[test]"`:

    python -m examples.oscar_shop --requests 400 --threads 1 --seed 7
    python -m examples.oscar_shop --requests 1000 --threads 10 --compare
"""

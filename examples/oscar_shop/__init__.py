"""A real web shop (django-oscar) under a seeded stream of users, instrumented by name without touching its code."""

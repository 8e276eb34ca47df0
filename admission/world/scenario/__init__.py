"""Scenario files: a small cluster, what happens to it, and what must be true when. `lockgate test` runs them."""

"""The world: what the product runs on when no cluster is there, for simulations, scenarios and fault tests.

Import `admission.world.world.World`; this package imports nothing by itself, so that parts can be used alone.
"""

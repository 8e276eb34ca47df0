"""How many examples the laws try: few and always the same in an ordinary run, many and new ones in the long one.

`make test-all` asks for the long one (`--hypothesis-profile=long`). And loggers are left as they were found.
"""

import logging
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# A law over whole clusters takes 10 to 100 ms an example; an ordinary run of all of them has 30 s.
settings.register_profile(
    "ordinary", max_examples=15, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "long", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("ordinary")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """A command that a test runs in this very process sends logs where a process of its own would; the next test finds
    the loggers as they were."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        return (yield)
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)

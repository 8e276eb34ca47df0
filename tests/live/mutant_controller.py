"""`lockgate controller` with a fault planted, for the auditor's own test: within a cycle it does not look again.

Heads of several queues that share a cohort are nominated side by side; each fits alone, together they overshoot.
"""

import sys

from admission.rules import cycle
from controller.cli.__main__ import main


def plant() -> None:
    """Every nomination of a cycle is taken to fit still."""
    assert callable(cycle._fits), "the check that this fault takes away is not there any more"
    cycle._fits = lambda node, usage: True


if __name__ == "__main__":
    plant()
    sys.exit(main(sys.argv[1:]))

"""The deterministic state machine: facts and outcomes in, plans out.

    state = State(configuration)
    state.observe("ClusterQueue", read_cluster_queue(manifest))     # a fact from a list or watch
    plan = state.plan(now)                                          # what to do, as data
    state.outcome(Outcome(plan.effects[0].id, "ok", 1234))          # what became of it

The same inputs in the same order give the same plans in any process.
"""

from admission.state.state import BUDGET, State

__all__ = ["BUDGET", "State"]

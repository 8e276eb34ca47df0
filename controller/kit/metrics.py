"""Every metric of the process, in one table. Others import a line of it and count.

Label values are few and known: kinds, queues, results; never names of workloads.
"""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

REGISTRY = CollectorRegistry()

WATCH_EVENTS = Counter("lockgate_watch_events", "Deltas told by the reflectors.", ["kind"], registry=REGISTRY)
UNREADABLE = Counter("lockgate_unreadable_objects", "Manifests that no reader understood.", ["kind"], registry=REGISTRY)
WRITES = Counter(
    "lockgate_writes",
    "Writes to the API server, by kind of effect, kind of object and what became of them.",
    ["effect", "kind", "result"],
    registry=REGISTRY,
)
READS = Counter("lockgate_reads", "Objects fetched to write or to settle a doubt.", ["kind"], registry=REGISTRY)
EVENTS_SENT = Counter("lockgate_events_sent", "Kubernetes Events created or counted up.", registry=REGISTRY)
EVENTS_DROPPED = Counter("lockgate_events_dropped", "Kubernetes Events not sent: too many.", registry=REGISTRY)
PLAN_SECONDS = Histogram(
    "lockgate_plan_seconds",
    "How long the core took for one plan.",
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5),
    registry=REGISTRY,
)
PLAN_EFFECTS = Counter("lockgate_plan_effects", "Effects that plans asked for.", registry=REGISTRY)
UNDER_WAY = Gauge("lockgate_effects_under_way", "Effects planned and not answered yet.", registry=REGISTRY)
REVIEWS = Counter(
    "lockgate_webhook_reviews",
    "Admission reviews by path and result: allowed, refused, unreadable.",
    ["path", "result"],
    registry=REGISTRY,
)
LEADS = Gauge("lockgate_leads", "1 while this replica leads.", registry=REGISTRY)


def page() -> bytes:
    """All of them in Prometheus' text form."""
    return generate_latest(REGISTRY)

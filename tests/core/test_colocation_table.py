"""Pods × ClusterColocationProfiles, worked out by hand from what Koordinator 1.7 promises: what a new pod becomes, or
why it is refused. Columns: the pod, the profiles by name, and what comes of it in either preset.

A pod is written as words: `qos=BE class=koord-batch cpu=1 limit.cpu=2 init.cpu=1 overhead.cpu=1 label.app=etl`, where
`class` also gives the priority that Kubernetes would look up. An outcome names what must be so, `-cpu` what must not be
there; `!` begins a part of the refusal.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from admission.model.configuration import DEFAULTS
from admission.model.qos import PRESETS, Koordinator, Preset
from admission.world.answers import Answer
from admission.world.world import World

CLASSES = {"koord-prod": 9000, "koord-mid": 7000, "koord-batch": 5000, "koord-free": 3000, "plain": 10}
SKIP = "config.koordinator.sh/skip-update-resources"
PAIR = "cannot be used in combination"
NEEDS_BE = "must specify koordinator QoS BE"
Profiles = Mapping[str, Mapping[str, Any]]

NONE: Profiles = {}
EMPTY: Profiles = {"p": {}}  # matches everybody and sets nothing: translation alone
BATCH: Profiles = {"p": {"qosClass": "BE", "priorityClassName": "koord-batch"}}


def sets(qos: str = "", priority_class: str = "", **more: Any) -> Profiles:
    spec = {"qosClass": qos, "priorityClassName": priority_class, **more}
    return {"p": {name: value for name, value in spec.items() if value != ""}}


def selects(**selector: Any) -> Profiles:
    return {"p": {"selector": selector, "labels": {"hit": "y"}}}


def rule(key: str, operator: str, *values: str) -> Profiles:
    return selects(
        matchExpressions=[{"key": key, "operator": operator, **({"values": list(values)} if values else {})}]
    )


# fmt: off
BOTH: list[tuple[str, Profiles, str]] = [
    # Without a profile that matches nothing is touched, and the rules hold all the same.
    ("cpu=1", NONE, "cpu=1 -qos -batch-cpu"),
    ("qos=BE class=koord-batch cpu=1", NONE, "cpu=1 -batch-cpu qos=BE"),
    ("qos=LSR class=koord-batch cpu=2", NONE, f"!{PAIR}"),
    # What class a pod is of, and what its resources become.
    ("qos=BE class=koord-batch cpu=1500m memory=2Gi", EMPTY, "batch-cpu=1500 batch-memory=2Gi -cpu -memory"),
    ("class=koord-batch cpu=1", EMPTY, f"!{NEEDS_BE}"),
    ("qos=LS class=koord-prod cpu=1 memory=1Gi", EMPTY, "cpu=1 memory=1Gi -mid-cpu -batch-cpu"),
    ("qos=LS class=koord-mid cpu=1 memory=1Gi", EMPTY, "mid-cpu=1000 mid-memory=1Gi -cpu -memory"),
    ("qos=BE class=koord-mid cpu=1", EMPTY, "mid-cpu=1000 -cpu -batch-cpu"),
    ("qos=BE class=koord-free cpu=1 memory=1Gi", EMPTY, "cpu=1 memory=1Gi -batch-cpu"),
    ("cpu=1", EMPTY, "cpu=1 -batch-cpu -qos"),  # Burstable: LS, so Prod
    ("cpu=1 memory=1Gi limit.cpu=1 limit.memory=1Gi", EMPTY, "cpu=1 limit.cpu=1 -batch-cpu"),  # Guaranteed: LSR, Prod
    ("", EMPTY, "-cpu -batch-cpu -qos"),  # BestEffort: Batch, and nothing to translate
    ("gpu=1", EMPTY, "gpu=1 -batch-cpu"),
    ("qos=BE cpu=1", EMPTY, f"!{PAIR}"),  # Batch for translation, none for the rules
    ("qos=nonsense cpu=1", EMPTY, "cpu=1 -batch-cpu"),  # no class of that name: none said
    ("qos=BE band=koord-batch cpu=1", EMPTY, "batch-cpu=1000 -cpu"),
    ("qos=BE band=koord-batch class=koord-prod cpu=1", EMPTY, "batch-cpu=1000 -cpu priority=9000"),
    ("qos=BE band=nonsense class=koord-batch cpu=1", EMPTY, f"!{PAIR}"),  # no way back to the priority
    ("qos=LS band=koord-mid class=koord-prod cpu=1", EMPTY, "mid-cpu=1000 -cpu"),
    # The edges of the bands, and the gaps between them.
    ("qos=BE priority=5000 cpu=1", EMPTY, "batch-cpu=1000"),
    ("qos=BE priority=5999 cpu=1", EMPTY, "batch-cpu=1000"),
    ("qos=BE priority=6000 cpu=1", EMPTY, f"!{PAIR}"),
    ("qos=BE priority=4999 cpu=1", EMPTY, f"!{PAIR}"),
    ("qos=BE priority=7999 cpu=1", EMPTY, "mid-cpu=1000"),
    ("qos=BE priority=8000 cpu=1", EMPTY, f"!{PAIR}"),
    ("qos=BE priority=3000 cpu=1", EMPTY, "cpu=1 -batch-cpu"),
    ("qos=LSR priority=9999 cpu=1", EMPTY, "cpu=1"),
    ("qos=LSR priority=10000 cpu=1", EMPTY, f"!{PAIR}"),
    ("qos=SYSTEM priority=2000001000 cpu=1", EMPTY, "cpu=1"),
    # Quantities: thousandths of a core as a plain count, rounded up; bytes as they are written.
    ("cpu=0.1 memory=1G", BATCH, "batch-cpu=100 batch-memory=1G"),
    ("cpu=1500u memory=1", BATCH, "batch-cpu=2 batch-memory=1"),
    ("cpu=2 limit.cpu=4", BATCH, "batch-cpu=2000 limit.batch-cpu=4000"),
    ("limit.cpu=500m limit.memory=64Mi", BATCH, "batch-cpu=500 batch-memory=64Mi limit.batch-cpu=500 -limit.cpu"),
    ("cpu=250m", BATCH, "batch-cpu=250 -limit.batch-cpu -batch-memory"),
    ("cpu=1 limit.memory=1Gi", BATCH, "batch-cpu=1000 batch-memory=1Gi limit.batch-memory=1Gi -limit.batch-cpu"),
    ("cpu=2 batch-cpu=7", BATCH, "batch-cpu=2000 -cpu"),
    ("gpu=1 cpu=1", BATCH, "gpu=1 batch-cpu=1000"),
    ("init.cpu=1 init.limit.memory=1Gi cpu=1", BATCH, "init.batch-cpu=1000 init.batch-memory=1Gi -init.cpu"),
    ("overhead.cpu=250m overhead.memory=120Mi", BATCH,
     "overhead.batch-cpu=250 overhead.batch-memory=120Mi -overhead.cpu"),
    # What a profile sets, against what the author said.
    ("cpu=1", BATCH, "qos=BE class=koord-batch priority=5000 policy=Never batch-cpu=1000"),
    ("qos=LS class=koord-prod cpu=1", BATCH, "qos=BE class=koord-batch priority=5000 batch-cpu=1000"),
    ("cpu=2", sets("LSR", "koord-prod"), "qos=LSR class=koord-prod priority=9000 policy=PreemptLowerPriority cpu=2"),
    ("cpu=1500m", sets("LSR", "koord-prod"), "!must be integer"),
    ("", sets("LSR", "koord-prod"), "!whole cores"),
    ("cpu=500m", sets("LSE", "koord-prod"), "!must be integer"),
    ("cpu=2", sets("LSE", "koord-prod"), "qos=LSE cpu=2"),
    ("cpu=1", sets("BE", "koord-prod"), f"!{PAIR}"),
    ("cpu=1", sets("BE"), f"!{PAIR}"),
    ("class=koord-batch cpu=2", sets("LSR"), f"!{PAIR}"),
    ("cpu=1", sets("", "koord-batch"), f"!{NEEDS_BE}"),
    ("cpu=1", sets("LS", "koord-batch"), f"!{NEEDS_BE}"),
    ("cpu=1", sets("", "koord-free"), "class=koord-free priority=3000 cpu=1"),
    ("cpu=1", sets("BE", "koord-free"), "qos=BE cpu=1 -batch-cpu"),
    ("cpu=1", sets("LS", "koord-mid"), "qos=LS priority=7000 mid-cpu=1000"),
    ("cpu=1", sets("SYSTEM", "koord-free"), "qos=SYSTEM cpu=1"),
    ("cpu=1", sets("SYSTEM", "plain"), "qos=SYSTEM priority=10 cpu=1"),
    ("cpu=1", sets("", "nowhere"), "!there is no PriorityClass nowhere"),
    ("cpu=1", sets(koordinatorPriority=5500), "sub=5500"),
    ("sub=1", sets(koordinatorPriority=0), "sub=0"),
    ("cpu=1", sets(schedulerName="koord-scheduler"), "scheduler=koord-scheduler"),
    ("label.a=1 label.b=1", sets(labels={"a": "2", "c": "3"}), "label.a=2 label.b=1 label.c=3"),
    ("note.a=1", sets(annotations={"a": "2"}), "note.a=2"),
    # Keys that take over from others: all are read first, and what is missing gives nothing.
    ("label.a=1", sets(labelKeysMapping={"a": "b"}), "label.a=1 label.b=1"),
    ("label.b=9", sets(labelKeysMapping={"a": "b"}), "label.b=9 -label.a"),
    ("cpu=1", sets(labelKeysMapping={"a": "b"}), "-label.a -label.b"),
    ("label.a=1 label.b=2", sets(labelKeysMapping={"a": "b", "b": "c"}), "label.a=1 label.b=1 label.c=2"),
    ("cpu=1", sets(labels={"a": "1"}, labelKeysMapping={"a": "b"}), "label.b=1"),
    ("note.a=1", sets(annotationKeysMapping={"a": "b"}), "note.a=1 note.b=1"),
    ("label.a=x", sets(labelSuffixes={"a": "-late", "b": "-late"}), "label.a=x-late -label.b"),
    ("label.a=x", sets(labelKeysMapping={"a": "b"}, labelSuffixes={"b": "-s"}), "label.a=x label.b=x-s"),
    # Whom a profile means.
    ("label.app=etl", selects(matchLabels={"app": "etl"}), "label.hit=y"),
    ("label.app=web", selects(matchLabels={"app": "etl"}), "-label.hit"),
    ("cpu=1", selects(), "label.hit=y"),
    ("label.app=a", rule("app", "In", "a", "b"), "label.hit=y"),
    ("label.app=c", rule("app", "In", "a", "b"), "-label.hit"),
    ("cpu=1", rule("app", "NotIn", "a"), "label.hit=y"),
    ("label.app=a", rule("app", "NotIn", "a"), "-label.hit"),
    ("label.app=", rule("app", "Exists"), "label.hit=y"),
    ("cpu=1", rule("app", "DoesNotExist"), "label.hit=y"),
    ("cpu=1", rule("app", "Near", "a"), "-label.hit"),  # an error is no match
    ("cpu=1", {"p": {"namespaceSelector": {"matchLabels": {"colo": "on"}}, "labels": {"hit": "y"}}}, "label.hit=y"),
    ("cpu=1", {"p": {"namespaceSelector": {"matchLabels": {"colo": "off"}}, "labels": {"hit": "y"}}}, "-label.hit"),
    # Several of them: matched as the pod arrived, applied by name.
    ("cpu=1", {"a": {"labels": {"t": "au"}}, "b": {"selector": {"matchLabels": {"t": "au"}}, "labels": {"hit": "y"}}},
     "label.t=au -label.hit"),
    ("cpu=1", {"b": {"labels": {"t": "b"}}, "a": {"labels": {"t": "a", "u": "a"}}}, "label.t=b label.u=a"),
    ("cpu=1", {"a-9": {"labels": {"t": "9"}}, "a-10": {"labels": {"t": "10"}}}, "label.t=9"),  # by bytes
    ("cpu=1", {"a": {"qosClass": "BE", "priorityClassName": "koord-batch"}, "b": {"priorityClassName": "koord-mid"}},
     "qos=BE class=koord-mid mid-cpu=1000 -batch-cpu"),  # translated once, with what came of it
    ("cpu=1", {"a": {"labels": {"x": "1"}}, "b": {"labelKeysMapping": {"x": "y"}}}, "label.y=1"),
    ("qos=BE class=koord-batch cpu=1", {"p": {SKIP: ""}}, "cpu=1 -batch-cpu"),
    ("qos=BE class=koord-batch cpu=1", {"a": {}, "b": {SKIP: "false"}}, "cpu=1 -batch-cpu"),  # said by its presence
    # Shares that leave nothing to chance.
    ("cpu=1", sets(labels={"hit": "y"}, probability=0), "-label.hit"),
    ("cpu=1", sets(labels={"hit": "y"}, probability="0%"), "-label.hit"),
    ("cpu=1", sets(labels={"hit": "y"}, probability=100), "label.hit=y"),
    ("cpu=1", sets(labels={"hit": "y"}, probability="100%"), "label.hit=y"),
    ("cpu=1", sets(labels={"hit": "y"}, probability="half"), "-label.hit"),
    # Patches.
    ("cpu=1", sets(patch={"metadata": {"labels": {"a": "1"}}, "spec": {"hostNetwork": True}}), "label.a=1 cpu=1"),
    ("cpu=1", {"p": {**BATCH["p"], "patch": {"spec": {"containers": [
        {"name": "main", "resources": {"requests": {"cpu": "2"}}}]}}}}, "batch-cpu=2000"),  # translated after it
    ("cpu=1 label.a=1", sets(patch={"metadata": {"labels": {"a": None}}}), "-label.a"),
    ("cpu=1", sets(labels={"hit": "y"}, patch={"status": {}}), "-label.hit"),  # not ours to do: no match, and said
    ("cpu=1", sets(patch={"spec": {"containers": [{"image": "x"}]}}), "!has no name"),
]  # fmt: skip

# Where the presets differ: compatible, strict.
EACH: list[tuple[str, Profiles, str, str]] = [
    ("cpu=2", sets("LSE", "koord-free"), "qos=LSE cpu=2", f"!{PAIR}"),
    ("cpu=2", sets("LSE", "plain"), "qos=LSE cpu=2", f"!{PAIR}"),
    ("cpu=1", sets("LS", "koord-free"), "qos=LS cpu=1", f"!{PAIR}"),
    ("cpu=1", sets("LS", "plain"), "qos=LS cpu=1", f"!{PAIR}"),
    ("cpu=1", sets("LS"), "qos=LS cpu=1", f"!{PAIR}"),
    # A profile that matches and was not drawn: Koordinator translates all the same, and skips all the same.
    ("qos=BE class=koord-batch cpu=1", sets(probability=0), "batch-cpu=1000", "cpu=1 -batch-cpu"),
    ("qos=BE class=koord-batch cpu=1", {"a": {}, "b": {"probability": 0, SKIP: ""}}, "cpu=1", "batch-cpu=1000"),
]
# fmt: on

ROWS = [(pod, profiles, preset, said) for pod, profiles, said in BOTH for preset in PRESETS] + [
    (pod, profiles, preset, said)
    for pod, profiles, *outcomes in EACH
    for preset, said in zip(PRESETS, outcomes, strict=True)
]


@pytest.mark.parametrize(("pod", "profiles", "preset", "outcome"), ROWS)
def test_a_new_pod_becomes(pod: str, profiles: Profiles, preset: Preset, outcome: str) -> None:
    answer = cluster_of(preset, frozen(profiles)).api.create(manifest_of(pod), dry_run=True)
    if outcome.startswith("!"):
        assert outcome[1:] in answer.message
        return
    found = _facts(answer)
    for word in outcome.split():
        if word.startswith("-"):
            assert word[1:] not in found
        else:
            name, _, value = word.partition("=")
            assert found.get(name) == value


def test_the_table_is_as_long_as_it_should_be() -> None:
    assert len(BOTH) + len(EACH) >= 60


def frozen(profiles: Profiles) -> str:
    return json.dumps(profiles)  # the worlds are kept by it: a hundred of them, and many rows share one


@cache
def cluster_of(preset: Preset, profiles: str) -> World:
    world = World(replace(DEFAULTS, koordinator=Koordinator(preset)), autostart=False)
    made: list[dict[str, Any]] = [
        {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "colo", "labels": {"colo": "on"}}}
    ]
    for name, value in CLASSES.items():
        policy = {"preemptionPolicy": "Never"} if name == "koord-batch" else {}
        made.append({**_object("scheduling.k8s.io/v1", "PriorityClass", name), "value": value, **policy})
    for name, spec in json.loads(profiles).items():
        profile = _object("config.koordinator.sh/v1alpha1", "ClusterColocationProfile", name)
        profile["metadata"]["annotations"] = {SKIP: spec[SKIP]} if SKIP in spec else {}
        made.append({**profile, "spec": {field: value for field, value in spec.items() if field != SKIP}})
    for manifest in made:
        assert world.api.create(manifest).ok
    return world


def _object(api_version: str, kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}}


_NAMES = {"gpu": "acme.io/gpu", "cpu": "cpu", "memory": "memory"} | {
    f"{band}-{what}": f"kubernetes.io/{band}-{what}" for band in ("batch", "mid") for what in ("cpu", "memory")
}
_LABELS = {"qos": "koordinator.sh/qosClass", "band": "koordinator.sh/priority-class", "sub": "koordinator.sh/priority"}


def manifest_of(words: str) -> dict[str, Any]:
    labels: dict[str, str] = {}
    notes: dict[str, str] = {}
    spec: dict[str, Any] = {"containers": [{"name": "main", "image": "x"}]}
    for word in words.split():
        name, _, value = word.partition("=")
        above, _, last = name.rpartition(".")
        if name in _LABELS:
            labels[_LABELS[name]] = value
        elif name == "class":
            spec |= {"priorityClassName": value, "priority": CLASSES[value]}
        elif name == "priority":
            spec["priority"] = int(value)
        elif above == "label":
            labels[last] = value
        elif above == "note":
            notes[last] = value
        elif above == "overhead":
            spec.setdefault("overhead", {})[_NAMES[last]] = value
        else:
            if above.startswith("init"):
                spec.setdefault("initContainers", [{"name": "prep", "image": "x"}])
            container = spec["initContainers" if above.startswith("init") else "containers"][0]
            field = "limits" if above.endswith("limit") else "requests"
            container.setdefault("resources", {}).setdefault(field, {})[_NAMES[last]] = value
    metadata = {"name": "pod", "namespace": "colo", "labels": labels, "annotations": notes}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _facts(answer: Answer) -> dict[str, str]:
    assert answer.body is not None, answer.message
    metadata, spec = answer.body["metadata"], answer.body["spec"]
    labels = metadata.get("labels") or {}
    found = {f"label.{name}": value for name, value in labels.items()}
    found |= {f"note.{name}": value for name, value in (metadata.get("annotations") or {}).items()}
    found |= {short: labels[name] for short, name in _LABELS.items() if name in labels}
    for short, name in (("class", "priorityClassName"), ("priority", "priority"), ("policy", "preemptionPolicy")):
        if name in spec:
            found[short] = str(spec[name])
    if "schedulerName" in spec:
        found["scheduler"] = spec["schedulerName"]
    shorts = {name: short for short, name in _NAMES.items()}
    main, *_ = spec["containers"]
    prep = (spec.get("initContainers") or [{}])[0]
    for prefix, quantities in (
        ("", (main.get("resources") or {}).get("requests")),
        ("limit.", (main.get("resources") or {}).get("limits")),
        ("init.", (prep.get("resources") or {}).get("requests")),
        ("init.limit.", (prep.get("resources") or {}).get("limits")),
        ("overhead.", spec.get("overhead")),
    ):
        found |= {prefix + shorts[name]: str(value) for name, value in (quantities or {}).items()}
    return found

"""Two hundred ways to spoil good manifests: each is played, or refused with file, document, field and remedy."""

import contextlib
import io
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from controller.cli.__main__ import main
from controller.cli.manifests import load

EXAMPLES = Path(__file__).parents[2] / "examples"
SEEDS = range(200)

Mutation = Callable[[list[Any], random.Random], str | bytes]


def _few() -> list[Any]:
    """One queue of the university with what it needs, and three jobs: enough to be spoilt, and quick."""
    wanted = {"university", "science", "standard", "a100", "t4", "deadline", "physics", "gpu", "lattice-qcd"}
    wanted |= {"paper-deadline", "monte-carlo"}
    found = [one.content for one in load([EXAMPLES / "university"]).manifests]
    return [one for one in found if one["metadata"]["name"] in wanted]


BASE = _few()


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from _places(one, (*path, key))


def _parent(documents: list[Any], path: tuple[Any, ...]) -> Any:
    value: Any = documents
    for key in path[:-1]:
        value = value[key]
    return value


def _dumped(documents: list[Any]) -> str:
    return str(yaml.dump_all(documents, Dumper=yaml.CSafeDumper, sort_keys=False))


def another_type(documents: list[Any], rng: random.Random) -> str:
    path = rng.choice(list(_places(documents)))
    values: list[Any] = [None, True, -1, 3, 1.5, "x", "", [], {}, ["a"], {"a": "b"}, [None], {"a": None}, 10**30]
    _parent(documents, path)[path[-1]] = rng.choice(values)
    return _dumped(documents)


def another_amount(documents: list[Any], rng: random.Random) -> str:
    words = ("nominalQuota", "cpu", "memory", "nvidia.com/gpu", "parallelism", "completions", "value")
    path = rng.choice([one for one in _places(documents) if one[-1] in words])
    amounts = ["-1", -1, "1e99", "9" * 60, "1Zi", "0", "", "-0", "NaN", "1 Gi", "0x10", 2**63, -(2**31) - 1, "1e-30"]
    _parent(documents, path)[path[-1]] = rng.choice(amounts)
    return _dumped(documents)


def missing(documents: list[Any], rng: random.Random) -> str:
    path = rng.choice(list(_places(documents)))
    del _parent(documents, path)[path[-1]]
    return _dumped(documents)


def twice(documents: list[Any], rng: random.Random) -> str:
    lines = _dumped(documents).splitlines()
    at = rng.choice([index for index, line in enumerate(lines) if ":" in line and not line.rstrip().endswith(":")])
    return "\n".join([*lines[: at + 1], lines[at], *lines[at + 1 :]])


def torn(documents: list[Any], rng: random.Random) -> str:
    text = _dumped(documents)
    return text[: rng.randrange(len(text))]


def noisy(documents: list[Any], rng: random.Random) -> bytes:
    raw = bytearray(_dumped(documents).encode())
    for _ in range(rng.randint(1, 4)):
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw)


def binary(documents: list[Any], rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice([1, 100, 10_000]))


def nested(documents: list[Any], rng: random.Random) -> str:
    path = rng.choice(list(_places(documents)))
    value: Any = None
    for _ in range(rng.choice([20, 90, 150])):
        value = [value] if rng.random() < 0.5 else {"a": value}
    _parent(documents, path)[path[-1]] = value
    return _dumped(documents)


def large(documents: list[Any], rng: random.Random) -> str:
    return _dumped(documents) + "# " + "x" * (10 * 2**20)


def in_circles(documents: list[Any], rng: random.Random) -> str:
    for one in documents:
        if one["kind"] == "Cohort":
            one["spec"] = {"parentName": rng.choice(["university", "science", one["metadata"]["name"]])}
    return _dumped(documents)


MUTATIONS: list[Mutation] = [another_type] * 8 + [another_amount] * 4 + [missing] * 3 + [twice] * 2
MUTATIONS += [noisy] * 2 + [torn, binary, nested, in_circles]


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr of `lockgate …`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
    return code, out.getvalue(), err.getvalue()


def test_each_spoilt_manifest_is_played_or_refused_with_its_place_and_a_remedy(tmp_path: Path) -> None:
    codes: dict[int, int] = {}
    for seed in SEEDS:
        rng = random.Random(seed)
        mutation = large if seed == 0 else rng.choice(MUTATIONS)
        spoilt = mutation(deepcopy(BASE), rng)
        file = tmp_path / f"m{seed}.yaml"
        file.write_bytes(spoilt if isinstance(spoilt, bytes) else spoilt.encode())
        where = f"seed {seed}, {mutation.__name__}"
        code, out, err = run("simulate", str(file), "--output", "json")
        assert code in (0, 2), f"{where}: exit {code}\n{err}"
        assert "Traceback" not in err, f"{where}\n{err}"
        assert (code == 0) == bool(out), where
        if code == 2:
            for line in err.removeprefix("lockgate: ").splitlines():
                if line.startswith("note: ") or "there are no Jobs" in line:
                    continue
                assert f"{file}, document " in line, f"{where}: no place in {line}"
                assert "; " in line, f"{where}: no remedy in {line}"
        codes[code] = codes.get(code, 0) + 1
    assert min(codes.get(0, 0), codes.get(2, 0)) >= 20, f"the mutations are one-sided: {codes}"


LEGAL = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: q}}
spec:
  {cohort}
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: {flavor}
      resources: [{{name: cpu, nominalQuota: {quota}}}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: std}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {{name: a}}
spec: {{parentName: b}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {{name: b}}
spec: {{parentName: a}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: q}}
spec: {{clusterQueue: {queue}}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: j, labels: {{kueue.x-k8s.io/queue-name: {local}}}}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: c, image: i, resources: {{requests: {{cpu: "{cpu}"}}}}}}]
"""


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"cpu": "9" * 40}, "can never have more than 4"),
        ({"quota": '"' + "9" * 40 + '"'}, ""),
        ({"cohort": "cohortName: a"}, "form a circle"),
        ({"flavor": "none"}, "references missing ResourceFlavor(s): none"),
        ({"queue": "none"}, "leads to ClusterQueue none, which does not exist"),
        ({"local": "none"}, "LocalQueue default/none does not exist"),
    ],
)
def test_what_is_odd_but_legal_is_played_and_the_wait_explained(
    tmp_path: Path, change: dict[str, str], says: str
) -> None:
    usual = {"cohort": "", "flavor": "std", "quota": "4", "queue": "q", "local": "q", "cpu": "1"}
    file = tmp_path / "legal.yaml"
    file.write_text(LEGAL.format(**usual | change))
    code, out, err = run("explain", "Job/default/j", str(file))
    assert code == 0, err
    told = " ".join(out.split())
    assert (says in told) if says else ("is admitted" in told)

"""Prometheus' text form, written by hand where there are many series: the client library would take ten times as long.

Names and values as in https://prometheus.io/docs/instrumenting/exposition_formats/.
"""

import math
from collections.abc import Iterable, Sequence

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def header(name: str, type: str, help: str) -> str:
    return f"# HELP {name} {_escaped(help, quotes=False)}\n# TYPE {name} {type}\n"


class Form:
    """The lines of one family. `fixed` are labels that all of its series carry, after those of their own."""

    def __init__(self, name: str, labels: Sequence[str], fixed: Sequence[tuple[str, str]] = ()) -> None:
        # A template for the % operator: the quickest way to put a few texts into one.
        parts = [f'{label}="%s"' for label in labels]
        parts += [f'{label}="{escaped(value).replace("%", "%%")}"' for label, value in fixed]
        own = ",".join(parts)
        self._sample = f"{name}{{{own}}} %s\n" if own else f"{name} %s\n"
        bucket = ",".join([*parts, 'le="%s"'])
        self._bucket = f"{name}_bucket{{{bucket}}} %d\n"
        self._sum, self._count = (self._sample.replace(name, f"{name}_{part}", 1) for part in ("sum", "count"))

    def sample(self, labels: Sequence[str], value: float) -> str:
        return self._sample % (*map(escaped, labels), number(value))

    def histogram(self, labels: Sequence[str], edges: Iterable[str], counts: Iterable[int], total: float) -> str:
        """`edges`: as `number` writes them, +Inf last; `counts`: per bucket, not cumulative."""
        own = tuple(map(escaped, labels))
        lines, seen = [], 0
        for edge, count in zip(edges, counts, strict=True):
            seen += count
            lines.append(self._bucket % (*own, edge, seen))
        lines.append(self._sum % (*own, number(total)))
        lines.append(self._count % (*own, seen))
        return "".join(lines)


def number(value: float) -> str:
    """As Go writes it: 1, 2.5, +Inf, NaN."""
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if math.isnan(value):
        return "NaN"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def escaped(value: str) -> str:
    """A label's value. Kubernetes' names need nothing; reasons that others wrote may."""
    return value if value.isidentifier() else _escaped(value, quotes=True)


def _escaped(value: str, *, quotes: bool) -> str:
    value = value.replace("\\", "\\\\").replace("\n", "\\n")
    return value.replace('"', '\\"') if quotes else value

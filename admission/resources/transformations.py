"""What of a pod's requests counts as quota, and as what: `resources` of the Configuration.

Excluded prefixes first, then transformations, in exact numbers: what several inputs give is added up before anything
is rounded or cut off.
"""

from fractions import Fraction

from admission.model.configuration import Resources, Transformation
from admission.model.pods import Exact, plus

_ZERO = Fraction(0)
_ONE = Fraction(1)


def counted(asked: Exact, settings: Resources) -> Exact:
    """The requests of one pod that quota is asked for."""
    if settings.exclude_prefixes:
        asked = {name: units for name, units in asked.items() if not name.startswith(settings.exclude_prefixes)}
    by_input = {each.input: each for each in settings.transformations if each.input in asked}
    if not by_input:
        return asked
    retained = {name: units for name, units in asked.items() if name not in by_input or not by_input[name].replace}
    # Kept apart to the end: a negative output may lower what other inputs give, but never a request of the pod's own.
    generated: Exact = {}
    for each in by_input.values():
        generated = plus(generated, _outputs(each, asked))
    return plus(retained, {name: max(units, _ZERO) for name, units in generated.items()})


def _outputs(transformation: Transformation, asked: Exact) -> Exact:
    base = asked[transformation.input] * asked.get(transformation.multiply_by, _ONE)
    return {name: base * factor for name, factor in transformation.outputs.items()}

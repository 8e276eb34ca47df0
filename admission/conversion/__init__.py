"""An object of ours in the words of another version of its kind, losing nothing that the other version can say.

    convert(manifest, "v1beta2")  ->  the same object as v1beta2

Plain JSON in and out; what is given is never changed. `v1beta1` is read by older clients, `v1beta2` is stored.
"""

from admission.conversion.convert import convert
from admission.conversion.fields import Unconvertible

__all__ = ["Unconvertible", "convert"]

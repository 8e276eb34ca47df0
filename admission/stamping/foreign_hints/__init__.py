"""The words of other systems, in ours: a job that is labelled for KAI, Volcano, YuniKorn or Koord-Queue is queued here
without being rewritten. Opt-in: by a label of the namespace or by a JobProfile."""

from admission.stamping.foreign_hints.table import ALL, ECOSYSTEMS, NAMESPACE_LABEL, ecosystems, named
from admission.stamping.foreign_hints.translate import Translation, translate

__all__ = ["ALL", "ECOSYSTEMS", "NAMESPACE_LABEL", "Translation", "ecosystems", "named", "translate"]

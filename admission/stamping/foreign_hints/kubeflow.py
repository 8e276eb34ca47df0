"""What Kubeflow's jobs say to whichever gang scheduler there is."""

from admission.stamping.foreign_hints.alias import Alias, Meaning

_KINDS = ("TFJob", "PyTorchJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob")
_POLICY = "spec.runPolicy.schedulingPolicy."

QUEUE = Alias(Meaning.QUEUE, "field", _POLICY + "queue", kinds=_KINDS)
MIN_AVAILABLE = Alias(Meaning.GANG, "field", _POLICY + "minAvailable", kinds=_KINDS)

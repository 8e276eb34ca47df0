"""The CRDs of the job operators, as each operator ships them, for clusters that test with real kinds.

    install_job_crds(cluster, ["JobSet", "TFJob"])

Nothing of the operators is kept here: their manifests are read from Go's module cache when they are needed.
"""

from hack.job_crds.crds import KINDS, crd_file, install_job_crds, job_crds

__all__ = ["KINDS", "crd_file", "install_job_crds", "job_crds"]

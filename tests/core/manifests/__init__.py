"""Valid manifests at random, by kind of job: one file per family of kinds.

`tests.core.job_kind_laws` says what holds of all of them.
"""

from collections.abc import Mapping

from hypothesis import strategies as st

from tests.core.manifests import batch, job_set, kubeflow, ray, spark, workflow
from tests.core.manifests.pods import Sample

SAMPLES: Mapping[str, st.SearchStrategy[Sample]] = {
    **batch.SAMPLES,
    **kubeflow.SAMPLES,
    **job_set.SAMPLES,
    **ray.SAMPLES,
    **spark.SAMPLES,
    **workflow.SAMPLES,
}

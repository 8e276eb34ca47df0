module lockgate.dev/hack/job_crds/operators

go 1.26.0

require (
	github.com/argoproj/argo-workflows/v3 v3.7.4
	github.com/kubeflow/mpi-operator v0.8.2
	github.com/kubeflow/spark-operator/v2 v2.5.1
	github.com/kubeflow/training-operator v1.9.3
	github.com/ray-project/kuberay/ray-operator v1.6.2
	sigs.k8s.io/jobset v0.12.0
)

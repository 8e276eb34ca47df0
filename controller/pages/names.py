"""What installing and serving must call alike."""

SECRET = "lockgate-controller-cert"  # of both pages that are served over HTTPS
VISIBILITY_SERVICE = "visibility-server"  # Kueue's, as the following
METRICS_SERVICE = "kueue-controller-manager-metrics-service"
METRICS_READER = "kueue-metrics-reader"
METRICS_PORT = 8443

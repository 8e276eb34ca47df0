"""What installing and serving the visibility API must call alike."""

SECRET = "lockgate-visibility-cert"
SERVICE = "visibility-server"  # Kueue's

"""Scenarios on a real API server: the stage that `lockgate test --live` plays them on."""

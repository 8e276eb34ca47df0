"""The decision: which jobs may start, and when. Pure: no I/O, no clock, no randomness, nothing of ours imported.

*Admission* here means "this job may start" (quota). The API server's admission webhooks are always called webhooks.
"""

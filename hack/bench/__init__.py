"""Lockgate against the real Kueue manager: the mix of Kueue's own benchmark, a load driver that is no brake.

Each contestant gets a fresh control plane of etcd and API server alone, as Kueue's benchmark does, with no webhooks in
the path. The mix is read from Kueue's module when it is needed; nothing of it is kept here.
"""

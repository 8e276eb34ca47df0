"""The real Kueue as judge: made-up clusters are played on both, and what differs at rest is shrunk and told.

`generator` makes scenarios by seed, `live` plays many of them at once on a control plane and `memory` one in memory,
`compare` says where two outcomes part, `rules` know the differences that are documented, `shrink` makes the rest small.
"""

"""What a reconciler would do: the state of one object and what surrounds it in, wishes out. Values only."""

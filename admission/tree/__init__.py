"""The books: who hangs below whom, how much quota each node has and uses, and how to take a change back."""

from admission.tree.node import Node
from admission.tree.tree import Tree

__all__ = ["Node", "Tree"]

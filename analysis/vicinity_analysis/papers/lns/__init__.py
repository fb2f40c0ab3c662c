"""Constraint solving: its published numbers only (data/published/lns_*.csv)."""

from vicinity_analysis.paper import Paper

PAPER = Paper(
    system="lns",
    order=5,
    title="A GPU implementation of large neighbourhood search (Campeotto, Dovier, Fioretto, Pontelli)",
)

"""Vehicle routing: its published numbers only (data/published/alns_*.csv)."""

from vicinity_analysis.paper import Paper

PAPER = Paper(system="alns", order=4, title="Adaptive large neighbourhood search on the GPU (Bach, Hasle, Schulz)")

"""One package a paper, named after its system; each exposes PAPER (vicinity_analysis.paper.Paper)."""

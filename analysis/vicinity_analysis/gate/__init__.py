"""The regression gate: runs, judges, tells the verdict."""

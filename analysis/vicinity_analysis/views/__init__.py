"""What is shown of an experiment: tables and figures."""

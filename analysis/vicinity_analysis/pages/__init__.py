"""What is written: the report, and pages and answers beside it."""

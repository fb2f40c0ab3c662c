"""Tables, plots, reports and the regression gate over vicinity's records."""

"""A report as text, one module per format."""

"""Calls of compiled functions as one native step: find the version, run `main`, wrap results, carry out writes."""

"""Functions cut at what cannot be captured: compiled segments, and plain Python between them."""

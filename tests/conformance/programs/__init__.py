"""Programs by language feature; each file is about one chapter of Python."""

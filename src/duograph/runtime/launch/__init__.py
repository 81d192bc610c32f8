"""Eager calls without Python in between: the key of a call, the table of records, what a record runs."""

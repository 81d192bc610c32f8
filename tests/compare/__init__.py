"""Calls with many forms of arguments on duograph and on MindSpore: what differs (`scripts/compare`)."""

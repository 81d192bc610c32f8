"""Rewriting: patterns, rules, the driver that applies them, and the machine check of every rule."""

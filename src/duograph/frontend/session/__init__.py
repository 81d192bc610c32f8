"""One capture: its session, the binder of its graph, and what its attempts learn."""

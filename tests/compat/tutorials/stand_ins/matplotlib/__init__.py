"""In place of matplotlib: takes what the tutorials draw, and looks at no more than that it can be drawn."""

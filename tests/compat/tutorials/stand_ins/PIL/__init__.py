"""In place of Pillow: images that hold an array."""

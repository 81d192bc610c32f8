"""What the program holds at a point of its path, and how values from outside enter it and leave it."""

"""What a compiled program assumed of outside values: kinds of guards, sets of them, and how they are checked."""

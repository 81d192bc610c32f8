"""What a capture results in: the program, how it is run, and what is made of its outputs."""

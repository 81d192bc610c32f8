"""What capture may do: whose code it interprets, what it refuses, what a program may depend on."""

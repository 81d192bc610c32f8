"""Loop IR functions as machine code: compiled or found once, shared by eager ops and programs."""

"""Capture from bytecode: code objects become the syntax trees that the source driver interprets."""

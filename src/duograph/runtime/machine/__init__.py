"""LLVM text becomes code in this process: compiled side by side, kept on disk, unmapped with its last reference."""

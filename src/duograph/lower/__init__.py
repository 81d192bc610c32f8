"""From MindIR to machine code: fusion groups, schedule, loop IR and LLVM text, for targets that are data."""

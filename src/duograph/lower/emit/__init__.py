"""Loop IR to LLVM text; the one place that knows LLVM's spelling."""

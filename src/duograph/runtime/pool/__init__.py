"""The thread pool that kernels share: `dg_parallel`, a loop over chunks."""

"""What compiled programs need while they run: machine code in memory and on disk, and the thread pool."""

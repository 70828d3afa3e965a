"""The public SHMEM interface as a table: what a name is, where it may be called, what it takes."""

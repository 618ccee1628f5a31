"""One folder for each law: its votes, its kernels and its fractions."""

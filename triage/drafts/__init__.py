"""Cases drafted from the sources of a project: its kernels, and what each argument is likely to be."""

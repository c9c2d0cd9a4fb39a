"""What a compiled kernel costs: resources, the fast path it takes, and times measured on a GPU."""

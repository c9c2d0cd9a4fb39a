"""How a kernel uses its parameters, read from its body and those of the functions that it calls."""

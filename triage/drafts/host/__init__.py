"""Launches of kernels, and what their arguments are: an abstract evaluation of the host functions around them."""

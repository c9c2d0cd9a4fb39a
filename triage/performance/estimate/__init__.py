"""The time that a kernel needs, without a GPU: the work of its blocks, the resources they take, and a roofline."""

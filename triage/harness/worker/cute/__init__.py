"""CuTe DSL in a worker: arguments without a GPU, the stages of ``cute.compile``, and what the compiled kernel uses."""

"""Cases of CuTe DSL's host functions: the program around them is evaluated, and its launches become cases."""

"""What isolation is measured against: compile the configurations in a plain loop, in this one interpreter.

Run by path in the interpreter under test: ``in_process.py MODULE ARCH CONFIGURATION...``, each configuration the
JSON list [constexprs, options]. Prints the seconds of the whole program, start and imports included.
"""

import importlib.util
import json
import sys
import tempfile
import time

STARTED = time.time()


def main(module_path, arch, configurations):
    import os

    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler.compiler import ASTSource

        spec = importlib.util.spec_from_file_location("kernels", module_path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["kernels"] = module
        spec.loader.exec_module(module)
        kernel = module.matmul
        signature = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
        names = kernel.arg_names
        for text in configurations:
            constexprs, options = json.loads(text)
            types = {name: signature.get(name, "constexpr") for name in names}
            constants = {(names.index(name),): value for name, value in constexprs.items()}
            divisible = {(index,): [["tt.divisibility", 16]] for index in range(6)}
            source = ASTSource(kernel, types, constants, divisible)
            triton.compile(source, target=GPUTarget("cuda", int(arch), 32), options=options)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])

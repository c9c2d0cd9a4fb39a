"""What isolation of CuTe compiles is measured against: compile the configurations in a plain loop, in this interpreter.

Run by path in the interpreter under test: ``in_process_cute.py MODULE CONFIGURATION...``, each a JSON list [rows,
depth].
"""

import importlib.util
import json
import os
import sys
import tempfile


def main(module_path, configurations):
    with tempfile.TemporaryDirectory() as folder:
        # What triage keeps of a compile is written here too.
        kept = {"LINEINFO": "1", "KEEP_PTX": "1", "KEEP_CUBIN": "1", "DISABLE_FILE_CACHING": "1"}
        for name, value in {**kept, "ARCH": "sm_90a", "DUMP_DIR": folder}.items():
            os.environ["CUTE_DSL_" + name] = value
        import cutlass
        from cutlass import cute

        spec = importlib.util.spec_from_file_location("kernels", module_path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["kernels"] = module
        spec.loader.exec_module(module)

        def matrix(dtype):
            return cute.runtime.make_fake_tensor(
                dtype, (64, 64), (64, 1), memspace=cute.AddressSpace.gmem, assumed_align=16
            )

        for text in configurations:
            arguments = (matrix(cutlass.Float16), matrix(cutlass.Float16), matrix(cutlass.Float32))
            cute.compile(module.product, *arguments, *json.loads(text))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

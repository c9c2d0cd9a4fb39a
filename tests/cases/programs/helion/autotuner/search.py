"""Tries configurations one after the other."""

from helion.autotuner.logger import classify_triton_exception, dump


def best(compile_one, configurations, code):
    good = []
    for configuration in configurations:
        try:
            compile_one(configuration)
            good.append(configuration)
        except Exception as error:
            if classify_triton_exception(error) == "raise":
                raise
            dump(code, error)
    return good

"""``triage``, ``triton-triage`` and ``python -m triage``."""

import gc
import os


def main() -> None:
    """Run the command line and exit. Ctrl-C while it is imported is one line, as later."""
    # Nothing that an import makes is garbage; looking for some is 6 % of a short `triage log`.
    gc.disable()
    try:
        from triage.cli.main import main as run
    except KeyboardInterrupt:
        os.write(2, b"triage: interrupted\n")
        os._exit(130)
    run()


if __name__ == "__main__":
    main()

"""What it takes to time a case and what comes back: the inputs as a case states them, resolved to numbers; the
measurement as a value; the order by it. Pure: the processes that launch are in ``triage/harness/bench.py``."""

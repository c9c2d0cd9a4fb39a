"""From a failing compile to the module before the failing pass, that pass alone, and as little of the module as shows
the failure still."""

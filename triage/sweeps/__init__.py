"""The legality map: a space of configurations, targets and releases, compiled in isolation."""

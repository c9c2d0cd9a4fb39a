"""Every kernel of a project, compiled for targets and releases: one table, in which equal failures have one letter."""

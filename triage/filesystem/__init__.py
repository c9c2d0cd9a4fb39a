"""Files and folders: those of other people, the cache, temporary folders, the data that ships with triage."""

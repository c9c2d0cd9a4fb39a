"""Files and folders: untrusted ones, the cache, temporary folders, the data that ships with triage."""

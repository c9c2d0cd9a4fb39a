"""Cases made from what other tools leave behind: texts of IR, cache and dump folders, reproducers, generated modules.

All of it is read as text, within limits; nothing is imported, evaluated or unpickled.
"""

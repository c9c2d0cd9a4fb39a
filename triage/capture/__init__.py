"""``triage run``: what is put into a user's program, and what is made of what that leaves behind."""

"""What the commands print for people, at 80 columns."""

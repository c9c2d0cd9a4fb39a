"""What a triage found, made ready to leave the machine: Markdown, HTML, text, GitHub. Nothing leaves unscrubbed."""

"""Report documents in each format: terminal, Markdown, HTML and plain text."""

"""One case over many releases and targets: which fail, since when, and until when. See README.md."""

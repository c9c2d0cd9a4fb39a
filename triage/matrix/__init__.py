"""One case over many Triton releases and targets: which fail, since when, and until when. See README.md."""

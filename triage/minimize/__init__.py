"""The smallest case that still fails alike: passes propose smaller candidates, an oracle runs and judges them."""

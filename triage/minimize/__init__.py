"""The smallest case that still fails alike: smaller ones are proposed, the oracle compiles and judges them."""

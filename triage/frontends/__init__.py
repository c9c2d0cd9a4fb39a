"""What differs by language: how a case is described and checked."""

"""AMD's matrix instructions: which exist on which gfx, and which one a Triton tile becomes."""

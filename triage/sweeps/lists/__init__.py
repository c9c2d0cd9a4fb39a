"""Lists of tuned configurations: JSON folders as vLLM, SGLang and LightLLM keep them."""

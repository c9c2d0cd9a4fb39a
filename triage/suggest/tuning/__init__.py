"""The fastest configuration near one that fails or works: proposed by the static model, corrected by what compiles."""

"""Reduction of IR: the failing pass or stage alone, and the smallest input that shows the failure."""

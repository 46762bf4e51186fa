"""Gaps between groups of rows: densities and their falls, the judgement, its sentences and the questions."""

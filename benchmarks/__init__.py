"""Ratios against peers: time, memory and the quality of the maps. Not part of the installed package."""

"""New rows beside those of a map: what is compared, how it is judged, and how it is told."""

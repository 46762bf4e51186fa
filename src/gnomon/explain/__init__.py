"""Which features move a point, set a selection apart, drive a direction."""

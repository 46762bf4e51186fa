"""How the points move: the one loop, its schedules and its stopping rules."""

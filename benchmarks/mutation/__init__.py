"""How many small errors, put into the source at random, the tests notice: the mutation score of a room."""

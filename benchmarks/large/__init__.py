"""Tables larger than memory: how they are made, what their maps take, and what landmarks cost."""

"""Principal components and their models."""

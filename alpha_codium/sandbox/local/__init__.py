"""The local backend: programs run in the strongest jail that this machine has."""

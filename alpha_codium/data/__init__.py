"""Problems: sources, storage and loading."""

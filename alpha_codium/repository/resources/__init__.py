"""Files that users copy and edit: the configuration and the prompts of the repository benchmark."""

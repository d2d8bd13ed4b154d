"""What a test costs over HTTP: our server, the engine called directly, and a service that starts `python3`."""

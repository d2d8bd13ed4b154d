"""The judge as an HTTP server: `gencode serve`. Needs the extra `serve`."""

"""Servers for tests: real HTTP on loopback, scripted."""

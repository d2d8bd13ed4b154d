from tests.gen.running import home

__all__ = ["home"]

from tests.repository.conftest import checkout

__all__ = ["checkout"]

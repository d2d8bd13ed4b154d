"""A client of `gencode serve`: verdicts on programs, and rewards for answers of language models.

It needs httpx and nothing that only Linux has. `alpha_codium` has this package, too, as `alpha_codium.client`, which is
why its modules import each other by relative names.
"""

from .judge import Judge
from .servers import JudgeError, RequestRefused

__all__ = ["Judge", "JudgeError", "RequestRefused"]

"""Compilers and runtimes of this machine."""

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.languages.tools import find_tool


def test_a_missing_compiler_is_named_with_the_package_that_has_it() -> None:
    with pytest.raises(SandboxError, match=r"Fortran programs need gfortran-none, .* apt-get install gfortran"):
        find_tool("Fortran", "gfortran-none", "gfortran")

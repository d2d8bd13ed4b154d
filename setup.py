"""Packaging of alpha_codium: a light core, everything heavier an extra."""

import re
from pathlib import Path

from setuptools import find_packages, setup

LOCAL = ["xllamacpp>=2026.1"]
CONFORMANCE = ["pytest>=8.2", "pytest-asyncio>=0.24", "pytest-timeout>=2.3"]
DEMO = ["gradio>=5.0"]
QUERY = ["duckdb>=1.1"]
RAY = ["ray>=2.40"]
REPO = ["rapidfuzz>=3.0", "sacrebleu>=2.4"]
K8S = ["kubernetes>=29.0"]
S3 = ["s3fs>=2024.2"]
SERVE = ["fastapi>=0.115", "prometheus-client>=0.21", "starlette>=0.40", "uvicorn>=0.30"]
MCP = [*SERVE, "mcp>=2.0"]
METRICS = ["cloudpickle>=3.0", "evaluate>=0.4.3", "RestrictedPython>=8.4"]
DEV = [line for line in Path(__file__).with_name("requirements-dev.txt").read_text().splitlines() if line[:1].isalpha()]

ROOT = Path(__file__).parent
(VERSION,) = re.findall(r'^__version__ = "(.+)"', (ROOT / "alpha_codium" / "__init__.py").read_text("utf-8"), re.M)

setup(
    name="alpha_codium",
    version=VERSION,
    description="Let language models write programs, and know how good the programs are",
    long_description=(ROOT / "README.md").read_text("utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    keywords="code generation, pass@k, sandbox, judge, code execution, evaluation, reward functions",
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Typing :: Typed",
    ],
    python_requires=">=3.11",
    packages=[
        *find_packages(include=["alpha_codium", "alpha_codium.*"]),
        "alpha_codium.settings",
        "alpha_codium.prompts",
    ],
    package_dir={"alpha_codium.settings": "settings", "alpha_codium.prompts": "prompts"},
    package_data={
        "alpha_codium": ["py.typed"],
        "alpha_codium.cli": ["examples.txt"],
        "alpha_codium.data": ["examples/*.json"],
        "alpha_codium.audit.kit": ["cases/*.toml"],
        "alpha_codium.judge.drivers": ["*.cpp"],
        "alpha_codium.languages.jvm": ["*.java"],
        "alpha_codium.report": ["templates/*"],
        "alpha_codium.repository.resources": ["*.yaml", "prompts/*.yaml"],
        "alpha_codium.sandbox.conformance": ["attackers/*.[cjp]*", "modes/*.*"],
        "alpha_codium.settings": ["*.toml"],
        "alpha_codium.prompts": ["*/*.toml"],
    },
    install_requires=[
        "aiolimiter>=1.1",
        "click>=8.2",
        "datasets>=3.0",
        "httpx>=0.27",
        "huggingface_hub>=1.31",
        "jinja2>=3.1.4",
        "litellm>=1.60,!=1.82.7,!=1.82.8",
        "loguru>=0.7",
        "pydantic>=2.7",
        # Tests of candidates import it.
        "pytest>=8.2",
        "pygments>=2.18",
        "python-dotenv>=1.0",
        "pyyaml>=6.0",
        "rich>=13.7",
        "tenacity>=9.0",
        "toml>=0.10.2",
    ],
    extras_require={
        "conformance": CONFORMANCE,
        "local": LOCAL,
        "mcp": MCP,
        "metrics": METRICS,
        "query": QUERY,
        "ray": RAY,
        "repo": REPO,
        "serve": SERVE,
        "s3": S3,
        "k8s": K8S,
        "demo": [*DEMO, *METRICS],
        "dev": [*LOCAL, *DEMO, *METRICS, *QUERY, *RAY, *REPO, *MCP, *S3, *K8S, *DEV],
    },
    entry_points={
        "console_scripts": [
            "gencode=alpha_codium.cli.main:main",
            "run-multiturn=alpha_codium.cli.repo:run_multiturn",
            "get-resources=alpha_codium.cli.repo:get_resources",
            "run-multiturn-k8s=alpha_codium.cli.repo:run_multiturn_k8s",
            "serve-vllm=alpha_codium.cli.repo:serve_vllm",
            "kill-vllm=alpha_codium.cli.repo:kill_vllm",
        ],
        "inspect_ai": ["alpha_codium=alpha_codium.rewards.inspect_ai"],
        # Its name is that of the module, so that `-p` and the entry point can't load it twice.
        "pytest11": ["alpha_codium.sandbox.conformance=alpha_codium.sandbox.conformance"],
    },
)

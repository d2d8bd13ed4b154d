"""Servers of models for runs of the repository benchmark: for one run, or in the background until they are ended."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from alpha_codium.app.events import Noted, OnEvent, ignore
from alpha_codium.app.models import load_secrets
from alpha_codium.app.options.repository import ServersOptions
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.errors import SettingsError, UserError
from alpha_codium.llm.server_records import ServerRecords
from alpha_codium.llm.vllm import (
    PORT,
    ServedModel,
    autorun,
    lora_adapters,
    running_servers,
    start_servers,
)
from alpha_codium.options import use_case
from alpha_codium.repository.running.config import RunConfig, load_config
from alpha_codium.repository.storage import fetched
from alpha_codium.wording import counted

# Providers of litellm by which servers with OpenAI's protocol are reached; the server doesn't know them.
PREFIX = re.compile(r"^(openai|hosted_vllm)/")
GPU = re.compile(r"[A-Za-z0-9-]+")


@use_case(ServersOptions)
async def serve_models_async(options: ServersOptions) -> ServerRecords:
    """Start a server for each GPU with the model of a configuration, and leave them running.

    Raises UserError if one can't be started.
    """
    load_secrets()
    loaded = await in_thread(load_config, options.config, options.overrides)
    served = await in_thread(served_model, loaded)
    gpus = checked(options.gpu_ids.split(","))
    return await start_servers(served, gpus, options.base_port, loaded.vllm.start_seconds)


serve_models = blocking(serve_models_async)


@asynccontextmanager
async def servers_for(
    config: RunConfig, gpus: Sequence[str] = (), base_port: int = PORT, on_event: OnEvent = ignore
) -> AsyncIterator[ServerRecords | None]:
    """Yield the servers of a run: with GPUs, they are started for it; else those that are running, if it needs some.

    Raises UserError if they can't be started, or none are running.
    """
    if gpus:
        served = await in_thread(served_model, config)
        on_event(Noted(f"starting {counted(len(gpus), 'server')} for {served.model}"))
        options = {"base_port": base_port, "start_seconds": config.vllm.start_seconds}
        async with autorun(served, checked(gpus), **options) as records:
            yield records
    elif config.inference.provider == "vllm" and not config.inference.addresses:
        records = running_servers()
        if records is None:
            raise UserError("no servers are running: start them with `serve-vllm`, or for this run with `autorun`")
        yield records
    else:
        yield None


def served_model(config: RunConfig) -> ServedModel:
    """Return what the servers of a configuration serve; raises UserError if there is no model, or no adapter."""
    model, folder = PREFIX.sub("", config.inference.model), config.paths.checkpoints
    if not model:
        raise SettingsError("inference.model must name the model to serve")
    loras = lora_adapters(Path(fetched(folder)).expanduser(), config.inference.lora_ckpts_list) if folder else ()
    return ServedModel(model, loras, config.vllm.command)


def checked(gpus: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of GPUs; raises SettingsError if one is no id, or there twice."""
    for gpu in gpus:
        if not GPU.fullmatch(gpu):
            raise SettingsError(f"`gpu_ids` has {gpu!r}: give numbers or UUIDs, such as 0,1")
    if not gpus or len(set(gpus)) < len(gpus):
        raise SettingsError("`gpu_ids` needs one id for each server, such as 0,1")
    return tuple(gpus)

"""Runs of the repository benchmark: a model's answers to tasks, the tests of each answer, and a summary.

Each run has a folder; a run over several checkpoints has one for each. A run in a Kubernetes cluster is a Job, which
runs the same command there.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from loguru import logger

from alpha_codium.app.events import (
    Event,
    ItemDone,
    OnEvent,
    ProgressCounter,
    WorkEnded,
    WorkStarted,
    working,
)
from alpha_codium.app.options.repository import RunOptions, TasksOptions
from alpha_codium.app.repository_plan import (
    GROUND_TRUTH,
    RunPlan,
    checkpoints_of,
    configuration,
    latest_run,
    planned,
    with_checkpoint,
)
from alpha_codium.app.repository_servers import servers_for
from alpha_codium.app.run_folders import opened_run
from alpha_codium.coroutines import blocking, concurrently, in_thread
from alpha_codium.errors import SettingsError, UserError
from alpha_codium.flows.context import BudgetExhausted
from alpha_codium.gen.budgets import Ledger
from alpha_codium.gen.caching import open_cache
from alpha_codium.gen.sample import fault_text
from alpha_codium.gen.sample_model import SampleModel
from alpha_codium.llm.errors import ModelError
from alpha_codium.llm.messages import ChatModel
from alpha_codium.llm.opening import open_model
from alpha_codium.options import use_case
from alpha_codium.paths import models_folder
from alpha_codium.repository.checkout import check_out
from alpha_codium.repository.kubernetes import job_name, load_cluster_config, manifests, outputs_of
from alpha_codium.repository.kubernetes_jobs import KubernetesCluster
from alpha_codium.repository.providers import TestProvider, open_provider
from alpha_codium.repository.recipes import recipe_of
from alpha_codium.repository.running.config import RunConfig
from alpha_codium.repository.running.loop import LoopItem, TestsNotRun
from alpha_codium.repository.running.results import candidate_of, write_inputs, write_results
from alpha_codium.repository.running.summary import Summary, summarized
from alpha_codium.repository.running.trackers import track
from alpha_codium.repository.running.turns import ItemRun
from alpha_codium.repository.storage import fetched, uploading
from alpha_codium.runs import AnswerStore, RunFolder
from alpha_codium.runs.events import Transcript, transcript_name
from alpha_codium.runs.folder import ANSWERS
from alpha_codium.solution import ErrorKind, SampleError
from alpha_codium.values import JsonValue, named


@dataclass(frozen=True, slots=True)
class RepositoryRun(JsonValue):
    """A finished run: its summary, the name of the checkpoint, if any, and the run's folder."""

    in_json: ClassVar[Mapping[str, str]] = named("checkpoint", "summary", run_folder="folder")
    beside: ClassVar[Sequence[str]] = ("summary",)

    summary: Summary
    folder: Path
    checkpoint: str = ""


@use_case(RunOptions)
async def run_repository_async(options: RunOptions) -> list[RepositoryRun]:
    """Run the tasks, once for each checkpoint if there are some, and return the results.

    Raises UserError if the configuration, the tasks, the model or the provider of tests can't be used.
    """
    on_event, given = options.on_event, await in_thread(fetched, options.resume) if options.resume else None
    config = await in_thread(configuration, options, given)
    if not config.inference.log_to_console:
        on_event = _without_progress(on_event)
    resume = given or (await in_thread(latest_run, config) if config.inference.do_continue else None)
    checkpoints = await in_thread(checkpoints_of, config)
    if resume and len(checkpoints) > 1:
        raise SettingsError("a run of several checkpoints can't be resumed at once: name one in lora_ckpts_list")
    gpus = options.gpu_ids.split(",") if options.autorun else ()
    async with servers_for(config, gpus, options.base_port, on_event) as servers:
        addresses, key = (servers.addresses, servers.api_key) if servers else (options.servers, None)
        plan = await in_thread(planned, config, addresses, key)
        runs = []
        async with _opened_provider(config) as provider:
            await provider.check(plan.tasks.values())
            for checkpoint in checkpoints:
                of_checkpoint = replace(
                    plan, checkpoint=checkpoint, settings=with_checkpoint(plan.settings, checkpoint)
                )
                runs.append(await _run(of_checkpoint, provider, resume, on_event))
    return runs


run_repository = blocking(run_repository_async)


def _without_progress(on_event: OnEvent) -> OnEvent:
    def shown(event: Event) -> None:
        if not isinstance(event, WorkStarted | ItemDone | WorkEnded):
            on_event(event)

    return shown


def _opened_provider(config: RunConfig) -> TestProvider:
    inference = config.inference
    options: dict[str, Any] = {}
    if inference.sandbox_provider in ("local", "oci"):
        options["workers"] = inference.workers
        if config.paths.checkout:
            folder = Path(config.paths.checkout).expanduser().absolute()
            options["checkouts"] = lambda task: check_out(recipe_of(task.repository), task.version, checkout=folder)
    return open_provider(inference.sandbox_provider, **options)


@contextlib.asynccontextmanager
async def _clients(plan: RunPlan) -> AsyncIterator[Sequence[ChatModel | None]]:
    """Yield a client for each server, or [None] where no model is asked."""
    if plan.config.inference.check_ground_truth:
        yield [None]
        return
    async with contextlib.AsyncExitStack() as stack:
        clients: list[ChatModel | None] = []
        for address in plan.addresses or (plan.settings.config.api_base,):
            config = plan.settings.config.model_copy(update={"api_base": address})
            opened = open_model(config, models_folder(), plan.settings.prices, plan.api_key)
            clients.append(await stack.enter_async_context(opened))
        yield clients


async def _run(plan: RunPlan, provider: TestProvider, resume: str | None, on_event: OnEvent) -> RepositoryRun:
    name = None if resume else plan.run_name()
    with opened_run(name, resume, plan.description(), on_event) as folder:
        assert folder is not None
        async with uploading(folder.path, f"{plan.config.paths.outputs.rstrip('/')}/{folder.name}"):
            summary = await _run_in(folder, plan, provider, on_event)
        await in_thread(track, plan.config, folder.name, summary)
    return RepositoryRun(summary, folder.path, plan.checkpoint)


async def _run_in(folder: RunFolder, plan: RunPlan, provider: TestProvider, on_event: OnEvent) -> Summary:
    write_inputs(folder, plan.config, plan.prompts)
    async with _clients(plan) as clients:
        with open_cache(plan.settings) as cache, AnswerStore(folder.path / ANSWERS, cache) as store:
            items = await _Runner(plan, provider, clients, store, folder).run(on_event)
    summary = summarized(items, plan.config.benchmark, plan.model, plan.rules().max_iter)
    await in_thread(write_results, folder, plan.config.paths.output_filename, items, summary)
    folder.write_json("results.json", summary.to_json())
    return summary


class _Runner:
    """Runs the items of one run that aren't in its journal yet."""

    def __init__(
        self,
        plan: RunPlan,
        provider: TestProvider,
        clients: Sequence[ChatModel | None],
        store: AnswerStore,
        folder: RunFolder,
    ) -> None:
        self.plan, self.provider, self.clients = plan, provider, clients
        self.store, self.folder = store, folder
        self.rules, self.ledger = plan.rules(), Ledger(plan.settings)

    async def run(self, on_event: OnEvent) -> list[ItemRun]:
        """Run the missing items, `batch_size` at a time, and return all, in the order of tasks and replicas."""
        inference = self.plan.config.inference
        keys = [(idx, replica) for idx in self.plan.tasks for replica in range(inference.num_replicas)]
        passed = ProgressCounter(lambda item: item.passed, "{} passed")
        with self.folder.journal as journal, working(on_event, "items", len(keys), passed) as on_done:
            done = {item.key: item for item in journal.read(ItemRun.from_json) if item.is_final}
            self.ledger.count(candidate_of(item, self.rules.benchmark.name) for item in done.values())
            for item in done.values():
                on_done(item)
            todo = iter([key for key in keys if key not in done])

            async def work() -> None:
                for idx, replica in todo:
                    item = await self._item(idx, replica)
                    await asyncio.to_thread(journal.append, item.to_json())
                    done[item.key] = item
                    on_done(item)

            await concurrently(work() for _ in range(inference.batch_size))
        return [done[key] for key in keys]

    async def _item(self, idx: int, replica: int) -> ItemRun:
        task = self.plan.tasks[idx]
        budget = self.ledger.sample(task.dp_id)
        client = self.clients[idx % len(self.clients)]
        model = None
        if client is not None:
            name = self.plan.settings.config.model
            model = SampleModel(client, name, f"{task.dp_id}#{replica}", self.store, budget)
        item = LoopItem(task, self.rules, self.provider, model, replica)
        with budget.counting(model.usage) if model else contextlib.nullcontext():
            error = await self._error(item)
        self.ledger.note(budget)
        usage = model.usage if model else None
        run = ItemRun(
            idx=idx,
            dp_id=task.dp_id,
            replica=replica,
            file_path=task.file_path,
            method=task.method.qualified_name,
            turns=tuple(item.turns),
            error=error,
            llm_calls=usage.llm_calls if usage else 0,
            prompt_tokens=usage.prompt_tokens if usage else 0,
            completion_tokens=usage.completion_tokens if usage else 0,
            cost=usage.cost if usage else 0.0,
            model=", ".join(usage.models) if usage else GROUND_TRUTH,
        )
        transcript = Transcript(candidate_of(run, self.rules.benchmark.name), tuple(item.events))
        await asyncio.to_thread(self.folder.write_json, transcript_name(run.dp_id, replica), transcript.to_json())
        return run

    async def _error(self, item: LoopItem) -> SampleError | None:
        """Run the turns of an item; return the error that ended them without a verdict, if there was one."""
        try:
            await item.run()
        except BudgetExhausted as exhausted:
            return SampleError(ErrorKind.INTERNAL, f"{exhausted.end.budget} was spent", exhausted.end)
        except TestsNotRun as fault:
            return SampleError(ErrorKind.INTERNAL, fault_text(fault))
        except UserError:
            raise
        except ModelError as fault:
            logger.warning("{}: {}", item.task.dp_id, fault)
            return SampleError(ErrorKind.PROVIDER, fault_text(fault))
        except Exception as fault:  # noqa: BLE001 - a fault in one item mustn't end the others
            logger.exception("{}: internal error", item.task.dp_id)
            return SampleError(ErrorKind.INTERNAL, fault_text(fault))
        return None


@dataclass(frozen=True, slots=True)
class ClusterRun:
    """A Job: its name, its manifests, and where its results are."""

    name: str
    manifests: tuple[dict[str, Any], ...]
    outputs: str


def cluster_run(options: TasksOptions, k8s_config: Path | None = None) -> ClusterRun:
    """Return the Job of a run, which isn't submitted; raises SettingsError."""
    config, cluster = configuration(options), load_cluster_config(k8s_config)
    name = job_name(cluster)
    return ClusterRun(name, manifests(config, cluster, name), outputs_of(config, name))


def submit(run: ClusterRun, k8s_config: Path | None = None) -> KubernetesCluster:
    """Submit a run; raises UserError if there is no cluster, or it refuses the Job."""
    settings = load_cluster_config(k8s_config)
    cluster = KubernetesCluster(settings.context, settings.namespace)
    cluster.submit(*run.manifests)
    return cluster


def follow(run: ClusterRun, cluster: KubernetesCluster, on_line: Callable[[str], None]) -> str:
    """Report the log of a submitted run until it ends, copy its results, and return their folder.

    Raises JobFailed if the Job fails.
    """
    cluster.follow(run.name, on_line)
    return fetched(run.outputs)

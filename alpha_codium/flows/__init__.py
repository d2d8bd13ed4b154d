"""Flows: stages that fill a state by asking a model and judging code."""

from alpha_codium.flows.context import BudgetExhausted, SampleContext
from alpha_codium.flows.loading import Flow, load_flow
from alpha_codium.flows.state import FlowState

__all__ = ["BudgetExhausted", "Flow", "FlowState", "SampleContext", "load_flow"]

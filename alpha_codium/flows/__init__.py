"""Flows: sequences of stages that ask a model and run code to solve a problem."""

from alpha_codium.flows.context import BudgetExhausted, SampleContext
from alpha_codium.flows.loading import Flow, load_flow
from alpha_codium.flows.state import FlowState

__all__ = ["BudgetExhausted", "Flow", "FlowState", "SampleContext", "load_flow"]

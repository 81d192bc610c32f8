"""Distributions: what a density, a sample or a divergence is, for parameters of the constructor or of the call."""

from __future__ import annotations

from typing import Any

from duograph.base.public import Names

HOMES: dict[str, str] = {
    "duograph.nn.probability.distribution.base": "Distribution",
    "duograph.nn.probability.distribution.continuous": """
        Beta Cauchy Exponential Gamma HalfNormal Laplace Logistic Normal StudentT Uniform""",
    "duograph.nn.probability.distribution.discrete": "Bernoulli Categorical Geometric Poisson",
    "duograph.nn.probability.distribution.transformed": "TransformedDistribution",
    "duograph.nn.probability.distribution.derived": "Gumbel LogNormal",
}
"""Module: the public names that it holds."""

_names = Names(__name__, HOMES)
__all__ = list(_names.all)


def __getattr__(name: str) -> Any:
    return _names.get(name)


def __dir__() -> list[str]:
    return _names.listing()

"""Training: `Model`, callbacks, metrics, checkpoints, loss scales. Names are loaded when they are first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

HOMES: dict[str, str] = {
    "duograph.train.model": "Model",
    "duograph.train.callback": """
        Callback CheckpointConfig EarlyStopping History LambdaCallback LearningRateScheduler LossMonitor ModelCheckpoint
        ReduceLROnPlateau RunContext TimeMonitor OnRequestExit SummaryCollector SummaryRecord""",
    "duograph.train.dataset_helper": "DatasetHelper connect_network_with_dataset data_sink",
    "duograph.train.metrics": """
        F1 MAE MSE Accuracy Fbeta Loss Metric Perplexity Precision Recall Top1CategoricalAccuracy
        Top5CategoricalAccuracy TopKCategoricalAccuracy get_metric_fn names BleuScore ConfusionMatrix
        ConfusionMatrixMetric CosineSimilarity Dice ROC auc rearrange_inputs""",
    "duograph.train.loss_scale_manager": "DynamicLossScaleManager FixedLossScaleManager LossScaleManager",
    "duograph.train.serialization": """
        ckpt_to_safetensors export load load_checkpoint load_checkpoint_async load_param_into_net safetensors_to_ckpt
        save_checkpoint""",
    "duograph.amp": "build_train_network",
}
_home = {name: module for module, names in HOMES.items() for name in names.split()}
__all__ = list(_home)


def __getattr__(name: str) -> Any:
    if name in ("callback", "metrics", "serialization", "model", "amp"):
        return import_module("duograph.amp" if name == "amp" else f"duograph.train.{name}")
    if name not in _home:
        raise AttributeError(f"module 'duograph.train' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_home[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

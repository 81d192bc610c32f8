"""Training: `Model`, callbacks, metrics, checkpoints, loss scales. Names are loaded when they are first asked for."""

from __future__ import annotations

from typing import Any

from duograph.base.public import Names

HOMES: dict[str, str] = {
    "duograph.train.model": "Model",
    "duograph.train.callback": """
        Callback CheckpointConfig EarlyStopping History LambdaCallback LearningRateScheduler LossMonitor ModelCheckpoint
        ReduceLROnPlateau RunContext TimeMonitor OnRequestExit SummaryCollector SummaryRecord ProgressBar
        read_events""",
    "duograph.train.dataset_helper": "DatasetHelper connect_network_with_dataset data_sink",
    "duograph.train.metrics": """
        F1 MAE MSE Accuracy Fbeta Loss Metric Perplexity Precision Recall Top1CategoricalAccuracy
        Top5CategoricalAccuracy TopKCategoricalAccuracy get_metric_fn names BleuScore ConfusionMatrix
        ConfusionMatrixMetric CosineSimilarity Dice ROC auc rearrange_inputs""",
    "duograph.train.loss_scale_manager": "DynamicLossScaleManager FixedLossScaleManager LossScaleManager",
    "duograph.train.serialization": """
        async_ckpt_thread_status ckpt_to_safetensors export load load_checkpoint load_checkpoint_async
        load_param_into_net safetensors_to_ckpt save_checkpoint""",
    "duograph.train.foreign": "LoadReport load_torch load_torch_into_net",
    "duograph.train.amp": "build_train_network",
}
_names = Names(__name__, HOMES, ("amp", "callback", "metrics", "model", "serialization"))
__all__ = list(_names.all)


def __getattr__(name: str) -> Any:
    return _names.get(name)


def __dir__() -> list[str]:
    return _names.listing()

"""Heads of MindSpore files: what they import is there, or says why not; names of PyTorch say what to write instead."""

from __future__ import annotations

import importlib
import re
import sys

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.base.absent import ELSEWHERE, KEYWORDS, NOT_HERE, instead
from duograph.compat import alias, internals

HEADS = """
from mindspore.train.model import ParallelMode
from mindspore.ops._primitive_cache import _get_cache_prim
from mindspore.nn.wrap.grad_reducer import DistributedGradReducer
from mindspore.nn.wrap.cell_wrapper import _VirtualDatasetCell
from mindspore.nn.wrap.loss_scale import _grad_scale
from mindspore.nn.loss.loss import _Loss
from mindspore.nn.layer.normalization import _BatchNorm
from mindspore.nn.optim.optimizer import Optimizer, opt_init_args_register
from mindspore.parallel._utils import _get_device_num, _get_gradients_mean, _get_parallel_mode, _get_global_rank
from mindspore.parallel._auto_parallel_context import auto_parallel_context
from mindspore import _checkparam as validator
from mindspore._checkparam import Validator, Rel, twice
from mindspore.common._decorator import deprecated
from mindspore.common.seed import _get_graph_seed
from mindspore.common.initializer import _calculate_fan_in_and_fan_out
from mindspore.common.initializer import _assignment, _calculate_correct_fan, _calculate_gain, _init_random_uniform
from mindspore.common._utils import is_shape_unknown
from mindspore.train.callback import ModelCheckpoint, RunContext, _InternalCallbackParam
from mindspore.train._utils import check_value_type
from mindspore.nn.layer.activation import get_activation, _activation
from mindspore.dataset.transforms.vision import Inter
from mindspore.version import __version__
from mindspore.common.api import _executor
from mindspore.common.sparse_tensor import RowTensorInner
from mindspore.ops._utils import get_broadcast_shape
from mindspore._extends import cell_attr_register
from mindspore.profiler.profiling import Profiler
from mindspore import Profiler, SummaryCollector, SummaryRecord, DatasetHelper, connect_network_with_dataset, data_sink
from mindspore import RowTensor, COOTensor, CSRTensor, issubclass_, ms_memory_recycle, arg_handler
from mindspore import Node, rewrite, boost, linearize
from mindspore.rewrite import SymbolTree, ScopedValue
from mindspore.boost import AutoBoost
from mindspore.ops import Custom, FlashAttentionScore, derivative, jet, linearize, ScalarSummary
from mindspore.nn.metrics.accuracy import Accuracy
from mindspore.amp import all_finite, init_status
from mindspore.parallel._utils import _device_number_check
from mindspore.dataset.transforms.py_transforms import OneHotOp
from mindspore.ops.operations.nn_ops import FlashAttentionScore
from mindspore.nn import Jvp, Vjp
from mindspore.nn.grad.cell_grad import Jvp, Vjp
from mindspore.dataset import TFRecordDataset, VOCDataset, CocoDataset, IMDBDataset
import mindspore.nn.probability.distribution as msd
from mindspore.dataset.vision import CenterCrop, Decode, PadToSize, RandomColorAdjust
from mindspore.dataset.text import JiebaTokenizer, Vocab, BertTokenizer
from mindspore.dataset.transforms.transforms import PyTensorOperation
from mindspore.nn.wrap.cell_wrapper import TrainOneStepCell, MicroBatchInterleaved, PipelineCell
from mindspore.train.amp import auto_mixed_precision, AMP_BLACK_LIST, AMP_WHITE_LIST
from mindspore.train.callback._callback import Callback, InternalCallbackParam, _CallbackManager, RunContext
from mindspore.scipy.linalg import lu, cholesky
from mindspore.nn.utils import no_init_parameters
from mindspore import load_checkpoint, build_searched_strategy, async_ckpt_thread_status, ConfusionMatrix, ROC, auc
from mindspore.runtime import memory_stats, set_memory
import mindspore.multiprocessing as mp
from mindspore._checkparam import args_type_check, check_input_format, check_positive_int_sequence, infer_out_shape
from mindspore.nn.optim.adam import Adam, AdamWeightDecay, _check_param_value
from mindspore.boost import GradientAccumulation
from mindspore.boost.less_batch_normalization import LessBN
from mindspore.common._register_for_tensor import tensor_operator_registry
from mindspore.communication._comm_helper import Backend
from mindspore.dataset.core.config import set_seed
from mindspore.device_context.cpu.op_tuning import threads_num
from mindspore.mindrecord.tools.cifar10_to_mr import Cifar10ToMR
from mindspore.nn.layer.thor_layer import DenseThor
from mindspore.nn.sparse import SparseTensorDenseMatmul
from mindspore.ops._vmap.vmap_base import vmap_rules_getters
from mindspore.ops.composite.multitype_ops._constexpr_utils import raise_value_error
from mindspore.ops.op_info_register import op_info_register, TBERegOp, AiCPURegOp, CpuRegOp
from mindspore.ops.operations.comm_ops import AllReduce, AllGather, _MirrorOperator, _VirtualDataset, ReduceOp
from mindspore.ops.signature import make_sig
from mindspore.parallel import _cost_model_context
from mindspore.parallel._cost_model_context import _set_multi_subgraphs
from mindspore.parallel._ps_context import _is_role_worker
from mindspore.parallel._auto_parallel_context import _get_auto_parallel_context
from mindspore.parallel._utils import _get_stage_device_num, _get_pipeline_stages, _is_sharding_propagation
from mindspore.safeguard.rewrite_obfuscation import obfuscate_ckpt
from mindspore.train.amp import AMP_AUTO_WHITE_LIST
from mindspore.train.callback._callback import set_cur_net, checkpoint_cb_for_save_op, Callback, _handle_loss
from mindspore.train.serialization import save_checkpoint, _exec_save, _update_param, build_searched_strategy
from mindspore._c_expression.amp import AmpLevel, create_amp_strategy
from mindspore._checkparam import twice, _check_3d_int_or_tuple
import mindspore._c_dataengine as cde
from mindspore.common.api import _function_forbid_reuse
from mindspore.dataset.audio.utils import BorderType, create_dct
from mindspore.dataset.text.transforms import Implementation, TextTensorOperation
from mindspore.nn.layer.conv import _deconv_output_length
from mindspore.nn.wrap.loss_scale import _grad_overflow
from mindspore.ops.auto_generate import AddExt, StackExt, Swiglu
from mindspore.ops.function.nn_func import _in_projection_packed, linear, multi_head_attention_forward
from mindspore.ops.operations._rl_inner_ops import CudnnGRU
from mindspore.train.amp import _add_loss_network, _config_level, _do_keep_batchnorm_fp32
from mindspore.train.metrics import get_metrics
from mindspore.train.serialization import _load_dismatch_prefix_params, _update_param
from mindspore._c_expression import MSContext
from mindspore.common.initializer import Initializer, _register, _init_random_uniform, _assignment, TruncatedNormal
from mindspore.dataset.audio.utils import BorderType, MelType, NormMode, NormType, WindowType
from mindspore.dataset.engine.datasets import BatchDataset, MapDataset, RepeatDataset, ShuffleDataset, ZipDataset
from mindspore.log import _LogActionOnce
from mindspore.nn.layer.rnn_cells import _gru_cell, _lstm_cell, _rnn_relu_cell, _rnn_tanh_cell
from mindspore.ops.auto_generate import AdamW, Arange, ClampScalar, OneHotExt, RepeatInterleaveTensor, TrilExt
from mindspore.ops.operations._inner_ops import DecoderKVCache, PromptKVCache
from mindspore.ops.operations._rl_inner_ops import BatchAssign, BufferAppend, PriorityReplayBufferCreate
from mindspore.ops.operations._sequence_ops import TensorToScalar
from mindspore.train._utils import get_parameter_redundancy, remove_param_redundancy
""".strip().splitlines()


@pytest.fixture(autouse=True)
def _alias(monkeypatch):
    """The alias for one test; the process is left without it."""
    monkeypatch.setattr(sys, "meta_path", [f for f in sys.meta_path if not isinstance(f, alias.AliasFinder)])
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "mindspore"}
    for name in before:
        del sys.modules[name]
    ms.install_as_mindspore()
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "mindspore"]:
        del sys.modules[name]
    sys.modules.update(before)


@pytest.mark.parametrize("line", HEADS)
def test_heads_of_files(line):
    exec(line, {})


def test_every_internal_name_is_where_it_is_said_to_be():
    for name in internals.INTERNALS:
        assert internals.internal("mindspore", name) is not None


def test_finding_a_module_imports_nothing(monkeypatch):
    """Finders of CPython 3.11 run under the global import lock: an import there that waits for a thread never ends."""
    monkeypatch.setattr(alias.importlib, "import_module", None)
    finder = next(f for f in sys.meta_path if isinstance(f, alias.AliasFinder))
    for name in ("nn.layer.conv", "debug", "debug.hunt", "profiler", "train.callback.monitors"):
        assert finder.find_spec(f"mindspore.{name}") is not None
    for name in ("debugg", "debug.no", "profiler.parser"):
        assert finder.find_spec(f"mindspore.{name}") is None


def test_checks_of_arguments_raise():
    import mindspore._checkparam as check

    assert check.check_positive_int_sequence((1, 2), "dims") == (1, 2)
    assert check.infer_out_shape((2, 1), (3,)) == (2, 3)
    assert check.check_negative_float(-1.0) == -1.0
    for use, kind in (
        (lambda: check.check_positive_int_sequence((1, 0)), ValueError),
        (lambda: check.check_non_positive_int(1), ValueError),
        (lambda: check.check_equal_int(1, 2), ValueError),
        (lambda: check.check_input_format("NHWC"), ValueError),
        (lambda: check.check_valid_input("x", None, "Op"), ValueError),
        (lambda: check.check_pad_value_by_mode("same", 1, "Op"), ValueError),
        (lambda: check.check_str_by_regular("a b"), ValueError),
        (lambda: check.check_file_name_by_regular("a/"), ValueError),
        (lambda: check.check_file_name_by_regular(1), TypeError),
        (lambda: check.check_types_same_and_valid({"x": ms.int32, "y": ms.int64}, [ms.int_], "Op"), TypeError),
        (lambda: check.check_element_type_of_iterable("x", [1, "a"], [int]), TypeError),
        (lambda: check.check_element_type_of_dict("x", {1: 2}, [str], [int]), TypeError),
        (lambda: check._check_param_value(1.0, 0.9, 1e-8, "Adam"), ValueError),
        (lambda: check._check_param_value(1, 0.9, 1e-8, "Adam"), TypeError),
        (lambda: check.args_type_check(int, y=str)(lambda x, y: None)(1, 2), TypeError),
    ):
        with pytest.raises(kind):
            use()
    assert check.args_type_check(int, y=str)(lambda x, y: (x, y))(1, "a") == (1, "a")


def test_registry_and_errors_of_inner_modules():
    from mindspore.common._register_for_tensor import tensor_operator_registry
    from mindspore.ops.composite.multitype_ops._constexpr_utils import raise_type_error

    assert tensor_operator_registry.get("tanh") is ops.tanh
    with pytest.raises(TypeError, match="mine"):
        raise_type_error("mine")


def test_what_can_be_imported_and_not_used_says_why():
    from mindspore import flops_collection
    from mindspore.dataset import vision
    from mindspore.ops import operations as P
    from mindspore.rewrite import SymbolTree

    for use, said in (
        (lambda: SymbolTree(nn.ReLU()), r"no mindspore\.rewrite\.SymbolTree: it edits networks"),
        (lambda: P.NPUAllocFloatStatus().add_prim_attr("made", True)(), "Ascend"),
        (flops_collection, "summary"),
        (lambda: vision.DecodeVideo(), "no video"),
        (type("Mine", (vision.DecodeVideo,), {}), r"no mindspore\.dataset\.vision\.DecodeVideo: it "),
    ):
        with pytest.raises(NotImplementedError, match=said):
            use()
    with pytest.raises(AttributeError, match=r"SymbolTree: it edits"):
        SymbolTree.create(nn.ReLU())
    assert not hasattr(SymbolTree, "create")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("from mindspore.dataset.audio import AllpassBiqad", "transform of audio"),
        ("from mindspore.ops import csr_mul", "to_dense"),
        ("from mindspore.nn.probability.distribution import Norml", "distribution"),
        ("from mindspore.dataset.vision import RandomHorizontalFlp", "'RandomHorizontalFlip'"),
        ("from mindspore.device_context.ascend.op_tuning import op_compile", "one device"),
    ],
)
def test_names_that_are_not_there_say_why(line, reason):
    with pytest.raises(ImportError, match=reason):
        exec(line, {})


NAMES = {
    "mindspore.ops.operations": "Assert DynamicRNN PyFunc PagedAttention Push ResizeBicubic UpdateState all_gather",
    "mindspore.ops.functional": "env_get make_coo_tensor hastype nsa_compress tensor_expm1",
    "mindspore.runtime": "MemPool set_stream_limit use_mem_pool memory_allocated",
    "mindspore.utils": "stress_detect dryrun",
    "mindspore.train.metrics": "HausdorffDistance OcclusionSensitivity",
    "mindspore.train.callback": "SummaryLandscape TrainFaultTolerance",
    "mindspore.parallel": "transform_checkpoints merge_pipeline_strategys rank_list_for_convert",
    "mindspore.graph": "register_custom_pass CustomPassType",
    "mindspore.common": "hifloat8 QuantDtype SparseTensor load_mindir swap_tensors",
    "mindspore.ops": """
        Assert BatchToSpaceNDV2 Cauchy CheckNumerics Coalesce CombinedNonMaxSuppression ComputeAccidentalHits
        Conv3DTranspose Dilation2D DynamicGRUV2 DynamicRNN ExtractGlimpse ExtractVolumePatches FillDiagonal
        FractionalAvgPool FractionalMaxPool GetNext HistogramSummary ImageSummary LogNormalReverse
        LogUniformCandidateSampler MaxUnpool2D MaxUnpool3D Morph NonDeterministicInts
        ParameterizedTruncatedNormal RaggedRange ResizeArea ResizeBicubic RNNTLoss SampleDistortedBoundingBoxV2
        ScalarSummary ScaleAndTranslate ScatterNonAliasingAdd TensorDump TensorSummary UniqueWithPad
        deformable_conv2d derivative i0 jet log_uniform_candidate_sampler rotated_iou tensordump
        is_sequence_shape_unknown is_sequence_value_unknown isconstant AllReduce AllGather ReduceScatter
        Broadcast AllToAll NeighborExchange Send Receive Barrier Reduce CollectiveScatter CollectiveGather
        BatchISendIRecv coo_add coo_abs csr_abs csr_add csr_mm csr_softmax DataType TBERegOp AkgGpuRegOp
        CustomOpBuilder custom_info_register kernel get_vm_impl_fn CusMatMul SparseTensorDenseMatmul
        SparseApplyAdagrad SparseToDense SparseMatrixSoftmax incre_flash_attention
        prompt_flash_attention moe_token_permute nms_with_mask DropoutDoMask DropoutGenMask GeSwitch Partial
        Shard""",
    "mindspore.nn": """
        PipelineCell MicroBatchInterleaved GradAccumulationCell ActQuant Conv2dBnFoldQuant thor AdaFactor
        AdaSumByGradWrapCell Adasum AdasumByDeltaWeightWrapCell no_init_parameters Jvp Vjp Cell Moments
        SparseToDense SparseTensorDenseMatmul CellDict set_nn DistributedGradReducer ConfusionMatrix
        OcclusionSensitivity HausdorffDistance MeanSurfaceDistance RootMeanSquareDistance ThorOptimizer LSTMCell
        FixedLossScaleUpdateCell MultiFieldEmbeddingLookup EmbeddingLookup SyncBatchNorm WithGradCell""",
    "mindspore": """
        set_algo_parameters get_algo_parameters reset_algo_parameters shard Layout set_offload_context
        get_offload_context ms_class jit_class arg_dtype_cast lazy_inline QuantDtype dtype_to_nptype
        SparseTensor RowTensor Symbol saved_tensors_hooks register_saved_tensors_hooks recompute get_grad
        rank_list_for_transform transform_checkpoint_by_rank transform_checkpoints
        sync_pipeline_shared_parameters set_dump dump parse_print load_mindir save_mindir export_split_mindir
        get_ckpt_path_with_strategy ckpt_to_safetensors safetensors_to_ckpt check_checkpoint EncryptedCkpt
        set_cpu_affinity DynamicLossScaler run_check from_numpy tensor Node mint hal communication AutoParallel
        flops_collection TrainFaultTolerance TFTRegister LossMonitor ConfusionMatrix ROC auc OnRequestExit
        BackupAndRestore FlopsUtilizationCollector SummaryLandscape Dice BleuScore HausdorffDistance
        OcclusionSensitivity MindData names safeguard""",
    "mindspore.train": """
        BackupAndRestore FlopsUtilizationCollector SummaryLandscape TFTRegister TrainFaultTolerance
        ConvertModelUtils ConvertNetUtils MindData OcclusionSensitivity HausdorffDistance MeanSurfaceDistance
        RootMeanSquareDistance ROC Dice auc connect_network_with_dataset data_sink ConfusionMatrix""",
    "mindspore.numpy": """
        fft histogram select gradient interp isin nanmax nanmin tril_indices triu_indices histogram2d
        histogramdd polyadd polyder polyfit polyint polymul polysub polyval roots ravel_multi_index
        unravel_index vander bartlett blackman hamming hanning choose piecewise mask_indices ix_ mgrid ogrid
        lexsort apply_along_axis apply_over_axes digitize bincount convolve correlate corrcoef cov trapz unwrap
        rot90 invert fmin fmax sinc signbit setdiff1d in1d intersect1d union1d setxor1d norm multi_dot
        result_type promote_types sample rand randn randint randperm""",
    "mindspore.mint.distributed": """
        init_process_group all_reduce P2POp TCPStore batch_isend_irecv""",
    "mindspore.scipy.linalg": """
        lu lu_factor lstsq""",
    "mindspore.scipy.fft": """
        dct idct""",
    "mindspore.scipy.optimize": """
        minimize line_search linear_sum_assignment OptimizeResults""",
    "mindspore.communication": """
        get_local_rank get_local_rank_size HCCL_WORLD_COMM_GROUP NCCL_WORLD_COMM_GROUP MCCL_WORLD_COMM_GROUP
        GlobalComm release create_group get_comm_name""",
    "mindspore.mindrecord": """
        FileWriter FileReader MindPage Cifar10ToMR Cifar100ToMR CsvToMR ImageNetToMR MnistToMR TFRecordToMR
        read_record set_enc_key set_enc_mode set_hash_mode decode_enc_mode""",
    "mindspore.dataset": """
        ManifestDataset OBSMindDataset PaddedDataset InMemoryGraphDataset Graph DSCallback WaitedDSCallback
        DatasetCache compare serialize deserialize show sync_wait_for_dataset BatchInfo Shuffle Schema PKSampler
        SubsetSampler IterSampler Sampler UDFSampler""",
}
"""Public names of MindSpore that were not there once."""


@pytest.mark.parametrize("module", NAMES)
def test_every_name_is_there_or_says_why(module):
    home = importlib.import_module(module)
    for name in NAMES[module].split():
        try:
            getattr(home, name)
        except AttributeError as error:
            said = str(error).removeprefix(f"duograph has no {module}.{name}")
            assert said.startswith((": it ", "; ")), f"{error} says neither why nor what instead"
            assert "the nearest name" not in said or name == "AllToAll", said


def test_checks_of_arguments():
    from mindspore._checkparam import Rel, Validator

    assert Validator.check_positive_int(3, "n", "Net") == 3 and Validator.twice(3) == (3, 3)
    assert Validator.check_value_type("x", 2.0, [int, float], "Net") == 2.0
    assert Validator.check_float_range(0.5, 0.0, 1.0, Rel.INC_NEITHER, "p", "Net") == 0.5
    for call, error, text in (
        (
            lambda: Validator.check_positive_int(0, "n", "Net"),
            ValueError,
            "'Net', the 'n' must be int and must > 0",
        ),
        (lambda: Validator.check_int(True, 1, Rel.GE, "n"), TypeError, "must be int"),
        (lambda: Validator.check_float_range(1.0, 0.0, 1.0, Rel.INC_LEFT, "p"), ValueError, r"\[0.0, 1.0\)"),
        (lambda: Validator.check_value_type("x", True, int, "Net"), TypeError, "'bool'"),
        (lambda: Validator.check_string("a", ["b"], "mode"), ValueError, "must be in"),
        (lambda: Validator.check("n", 3, "limit", 2, Rel.LE, "Net"), ValueError, "limit: 2, but got 3"),
        (lambda: Validator.check_bool(1, "flag"), TypeError, "bool"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_decorators_and_questions(capsys):
    from mindspore._extends import cell_attr_register
    from mindspore.common._decorator import deprecated
    from mindspore.nn.optim.optimizer import opt_init_args_register
    from mindspore.parallel._auto_parallel_context import auto_parallel_context
    from mindspore.parallel._utils import _get_device_num, _get_parallel_mode

    @deprecated("2.0", "new")
    def old(x):
        return x

    class Layer(nn.Cell):
        @cell_attr_register(attrs=["size"])
        def __init__(self, size, name="a"):
            super().__init__()

    class Mine(nn.Optimizer):
        @opt_init_args_register
        def __init__(self, params, learning_rate=0.1):
            super().__init__(learning_rate, params)

    assert old(3) == 3 and "'old' is deprecated from version 2.0" in capsys.readouterr().err
    assert Layer(4).cell_init_args == "Layer{'size': 4}"
    optimizer = Mine(nn.Dense(1, 1).trainable_params())
    assert optimizer.init_learning_rate == 0.1 and list(optimizer.init_params) == ["params", "learning_rate"]
    assert _get_device_num() == 1 and _get_parallel_mode() == "stand_alone"
    context = auto_parallel_context()
    context.set_gradients_mean(True)
    assert context.get_gradients_mean() is True
    context.set_gradients_mean(False)
    with pytest.raises(AttributeError, match="nothing"):
        context.nothing  # noqa: B018


def test_our_own_modules_say_why_too():
    from duograph import dataset, mindrecord

    for module, name, text in (
        (dataset, "CelebADataset", "GeneratorDataset"),
        (dataset.vision, "DecodeVideo", "no video"),
        (dataset.text, "JiebaTokenizer", "not provided"),
        (mindrecord, "MnistToMR", "FileWriter"),
        (dataset.vision, "RandomCropp", "the nearest name is 'RandomCrop'"),
    ):
        with pytest.raises(AttributeError, match=text):
            getattr(module, name)


# ---- PyTorch ---------------------------------------------------------------------------------------------------------

PLACES = {"mint": ms.mint, "": ms, "nn": nn, "ops": ops, "Tensor": Tensor([1.0]), "Cell": nn.ReLU()}
PLACES |= {
    "Model": ms.Model(nn.ReLU()),
    "dataset": ms.dataset,
    "Dataset": ms.dataset.NumpySlicesDataset([1, 2]),
    "Sampler": ms.dataset.RandomSampler(),
    "Primitive": ops.Add(),
    "Profiler": ms.profiler.profile(),
    "Loop": ops.ForiLoop(),
    "MultitypeFuncGraph": ops.MultitypeFuncGraph("f"),
    "SparseTensor": ms.COOTensor(Tensor([[0, 1]]), Tensor([1.0]), (2, 2)),
}


@pytest.mark.parametrize("place", ELSEWHERE)
def test_names_of_pytorch(place):
    for name, text in ELSEWHERE[place].items():
        assert not hasattr(PLACES[place], name), f"{place}.{name} is there"
        with pytest.raises(AttributeError, match=re.escape(text)):
            getattr(PLACES[place], name)


def test_what_is_to_be_written_instead_is_there():
    texts = [text for table in ELSEWHERE.values() for text in table.values()]
    texts += [paragraph.partition("\n= ")[2] for paragraph in NOT_HERE.split("\n\n")]
    for path in re.findall(r"\b(?:nn|ops|mint|dataset|common|train)\.\w[\w.]*\w", " ".join(texts)):
        home, _, name = f"duograph.{path}".rpartition(".")
        assert hasattr(importlib.import_module(home), name), path


def test_parameters_say_it_too():
    with pytest.raises(AttributeError, match="value_and_grad"):
        nn.Dense(1, 1).weight.grad  # noqa: B018


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda w: nn.SGD(w, lr=0.1),
            TypeError,
            "keyword argument 'lr'; it is called 'learning_rate' here",
        ),
        (lambda w: nn.Adam(w, lr=0.1), ValueError, "it is called 'learning_rate' here"),
        (lambda w: nn.Dense(1, 2, bias=True), TypeError, "'has_bias'"),
        (lambda w: nn.Conv2d(1, 2, 3, padding_mode="zeros"), TypeError, "'pad_mode'"),
        (lambda w: nn.ReLU(nothing_like_it=1), TypeError, "'nothing_like_it'$"),
        (lambda w: nn.Dense(), TypeError, "missing 2 required positional arguments"),
    ],
)
def test_keywords(make, error, text):
    with pytest.raises(error, match=text):
        make(nn.Dense(1, 1).trainable_params())
    assert set(KEYWORDS) and instead("duograph.nn", "_private") == ""


def test_helpers_of_initializers():
    from duograph.compat.initializing import (
        _assignment,
        _calculate_correct_fan,
        _calculate_gain,
        _init_random_normal,
        _init_random_uniform,
    )  # fmt: skip

    ms.set_seed(1)
    drawn = _init_random_uniform(2.0, 3.0, (500,))
    assert drawn.min() >= 2 and drawn.max() <= 3 and abs(drawn.mean() - 2.5) < 0.05
    assert abs(_init_random_normal(1.0, 0.1, (500,)).mean() - 1) < 0.02
    array = np.zeros((2, 3), np.float32)
    assert _assignment(array, 4) is array and (array == 4).all()
    assert _assignment(np.zeros((), np.float32), 2) == 2
    assert _calculate_correct_fan((4, 3, 2, 2), "fan_in") == 12 and _calculate_gain("tanh") == 5 / 3
    with pytest.raises(ValueError, match="'mode' both not supported"):
        _calculate_correct_fan((2, 3), "both")


def test_checks_of_types():
    from duograph.compat.functions import check_value_type, is_dim_unknown, is_shape_unknown

    check_value_type("n", 3, [int, str])
    with pytest.raises(TypeError, match=r"For `n` the type should be a valid type of \['int'\], but got bool"):
        check_value_type("n", True, int)
    assert is_shape_unknown((2, -1)) and not is_shape_unknown((2, 3)) and is_dim_unknown((-2,))


def test_dtypes_are_told_apart_by_their_class():
    assert isinstance(Tensor([1]).dtype, ms.Int) and not isinstance(ms.float32, ms.Int)
    assert isinstance(ms.float32, ms.Type)


def test_classes_find_their_names():
    from mindspore.common.initializer import Initializer, Zero, _register, initializer

    from duograph.common.initializer import ALIASES

    before = dict(ALIASES)
    try:

        @_register("sevens", "zero")
        class Sevens(Initializer):
            def _initialize(self, arr):
                arr[...] = 7

        assert initializer("sevens", (2,)).tolist() == [7.0, 7.0] and ALIASES["zero"] is Zero
    finally:
        ALIASES.clear()
        ALIASES.update(before)


def test_warnings_are_said_once():
    from mindspore.log import _LogActionOnce

    said = []

    class Logger:
        def warning(self, text):
            said.append(text)

    logger = Logger()

    @_LogActionOnce(logger, "a key of this test")
    def warn(text):
        logger.warning(text)

    for text in "first", "second":
        warn(text)
    logger.warning("outside")
    assert said == ["first", "outside"]


def test_libraries_ask_the_package_for_its_version():
    from importlib import metadata

    import mindspore

    assert metadata.version("mindspore") == mindspore.__version__
    assert metadata.metadata("MindSpore")["Name"] == "mindspore"
    assert "mindspore" in [d.metadata["Name"] for d in metadata.distributions()]
    assert metadata.version("numpy") == np.__version__


def test_checks_and_cached_primitives_are_captured():
    from mindspore._checkparam import check_positive_int, check_value_type, twice
    from mindspore.ops._primitive_cache import _get_cache_prim
    from mindspore.ops.composite.multitype_ops._constexpr_utils import raise_value_error

    @ms.jit
    def scaled(x, n):
        check_value_type("n", n, [int], "scaled")
        check_positive_int(n, "n", "scaled")
        if n > 3:
            raise_value_error("too large")
        return _get_cache_prim(ops.Mul)()(x, twice(n)[1])

    assert np.array_equal(scaled(Tensor([1.0, 2.0]), 2).asnumpy(), [2.0, 4.0])
    with pytest.raises(ValueError, match="too large"):
        scaled(Tensor([1.0]), 4)
    with pytest.raises(ValueError, match="must > 0"):
        scaled(Tensor([1.0]), 0)
    with pytest.raises(TypeError, match="must be one of"):
        scaled(Tensor([1.0]), 2.5)
    report = scaled.explain()
    assert not report.breaks and not report.fallbacks


def test_operators_of_auto_generate():
    from mindspore.ops.auto_generate import (
        AddExt,
        CumsumExt,
        Muls,
        SplitWithSize,
        StackExt,
        SumExt,
        TopkExt,
        gen_ops_prim,
    )

    assert gen_ops_prim.AddExt is AddExt and str(AddExt()) == "Prim[AddExt]"
    x = Tensor(np.array([[1.0, 2.0], [3.0, 5.0]], np.float32))

    def every(x):
        return (
            AddExt()(x, x, 2), SumExt()(x, 1, True), CumsumExt()(x, 0, None), Muls()(x, 2), StackExt(dim=-1)([x, x]),
            *SplitWithSize()(x, (1, 1), -1), *TopkExt()(x, 1),
        )  # fmt: skip

    values = [value.asnumpy() for value in every(x)]
    assert values[0].tolist() == [[3, 6], [9, 15]] and values[1].tolist() == [[3], [8]]
    assert values[2].tolist() == [[1, 2], [4, 7]] and values[3].tolist() == [[2, 4], [6, 10]]
    assert values[4].shape == (2, 2, 2) and values[6].tolist() == [[2], [5]] and values[8].tolist() == [[1], [1]]
    compiled = ms.jit(every)
    for one, other in zip(values, compiled(x), strict=True):
        assert one.tobytes() == other.asnumpy().tobytes()
    assert not compiled.explain().breaks and not compiled.explain().fallbacks
    with pytest.raises(TypeError):
        AddExt()(x, x, 2, 3)


def test_transforms_of_others_have_two_bases():
    from mindspore.dataset.text.transforms import PyTensorOperation, TextTensorOperation

    class Lower(TextTensorOperation, PyTensorOperation):
        def __call__(self, text):
            return text.lower()

    assert Lower()("A") == "a"


def test_lengths_of_transposed_convolutions():
    from mindspore.nn.layer.conv import _deconv_output_length

    assert _deconv_output_length(True, False, False, 5, 3, 2, 1, 0) == 11
    assert _deconv_output_length(True, False, False, 5, 1, 2, 1, 0) == 10
    assert _deconv_output_length(False, True, False, 5, 3, 2, 1, 0) == 10
    assert _deconv_output_length(False, False, True, 5, 3, 2, 1, 2) == 9
    assert _deconv_output_length(False, False, True, 5, 3, 1, 2, 2) == 7


def test_mixed_precision_by_lists_of_others():
    from mindspore.train.amp import _auto_black_list, _auto_mixed_precision_rewrite

    def network():
        return nn.SequentialCell(nn.Dense(3, 3), nn.LayerNorm((3,)))

    x = ops.ones((2, 3), ms.float32)
    kept = network()
    _auto_black_list(kept, [nn.LayerNorm], ms.float16)
    assert kept(x).dtype == ms.float16 and kept[1].network.gamma.dtype == ms.float32
    assert _auto_mixed_precision_rewrite(network(), ms.float16, white_list=[nn.Dense])(x).dtype == ms.float32
    with pytest.raises(ValueError, match="must be provided"):
        _auto_mixed_precision_rewrite(network(), ms.float16)


def test_the_transforms_of_numpy_have_its_names():
    import duograph.numpy.fft as fft

    x = Tensor(np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32))
    assert set(fft.__all__) <= set(dir(np.fft)) | {"hfft2", "ihfft2", "hfftn", "ihfftn"}
    for name in fft.__all__:
        if hasattr(np.fft, name) and not name.endswith("freq"):
            got = getattr(fft, name)(x)
            np.testing.assert_allclose(got.asnumpy(), getattr(np.fft, name)(x.asnumpy()), atol=1e-5)
    np.testing.assert_allclose(fft.rfft(a=x, n=3, axis=0), np.fft.rfft(x.asnumpy(), 3, 0), atol=1e-5)
    np.testing.assert_allclose(fft.fftn(a=x, axes=(0,)), np.fft.fftn(x.asnumpy(), axes=(0,)), atol=1e-5)
    assert fft.fftshift(x=x, axes=1).asnumpy().tolist() == np.fft.fftshift(x.asnumpy(), 1).tolist()
    assert fft.rfftfreq(6, 0.5).asnumpy().tolist() == np.fft.rfftfreq(6, 0.5).astype(np.float32).tolist()
    for mode in ("ast", "bytecode", "trace"):
        compiled = ms.jit(lambda x: fft.irfft(fft.rfft(x), axis=-1), capture_mode=mode)
        assert compiled(x).asnumpy().tobytes() == fft.irfft(fft.rfft(x)).asnumpy().tobytes()

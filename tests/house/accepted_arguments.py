"""Arguments that no code reads, each with the reason why that is right (`test_arguments`).

A line is ``module:function(parameter,...)``; in `KEPT` a class that a table makes.
"""

from __future__ import annotations

ONE_DEVICE = "names a device, stream or way of moving data; there is one CPU, and results do not depend on it"
ONE_PROCESS = "describes how work is cut over devices, or automatically over processes; neither is there"
ONE_ORDER = "the algorithm has one order here, which satisfies every value: sorted and stable, repeated adds in turn"
NO_LOCKS = "a lock around an update: updates are never concurrent here"
SCRATCH = "allows to overwrite or to skip a check of operands; results do not depend on it"
HINT = "a hint to compilers and loaders (unrolling, workers, sinking, buffers, caching); results do not depend on it"
HOOK = "handed to a hook; this one does not need it"
CONTRACT = "handed to whatever takes its place; the plain one ignores it, as documented"
NAMES = "a name or note for people"
PROFILE = "how profiles are collected and shown; the results of programs do not depend on it"
NO_NEED = "its value is not needed: programs run in order, and a dtype that a tensor has already asks for nothing"

ACCEPTED: dict[str, str] = {
    ONE_DEVICE: """
        api.inplace:copy_(non_blocking) api.tensor_basic:move_to(blocking) api.tensor_basic:to(non_blocking)
        train.amp:all_finite(status)
        device.hal:Event.__init__(blocking) device.hal:Event.record(stream) device.hal:Stream.__init__(kwargs,priority)
        device.hal:get_device_capability(device_id) device.hal:get_device_name(device_id)
        device.hal:get_device_properties(device_id)
        device.hal:set_memory(huge_page_reserve_size,increase_size,init_size,max_size,optimize_level)
        device.object_collectives:broadcast_object_list(device)
        device.object_collectives:recv_object_list(device) device.object_collectives:send_object_list(device)
        tensor.parameter:Parameter.__init__(device,storage_format)
        tensor.tensor:Tensor.__init__(const_arg,device)
    """,
    ONE_PROCESS: """
        train.amp:build_train_network(boost_level) api.tensor_basic:init_data(opt_shard_group,shape,slice_index)
        mint.distributed:barrier(device_ids) mint.distributed:init_process_group(device_id,group_name)
        mint.distributed:new_group(backend,pg_options,timeout,use_local_synchronization)
        nn.cell_settings:CellSettings.init_parameters_data(auto_parallel_mode)
        nn.cell_settings:CellSettings.set_comm_fusion(fusion_type)
        nn.cell_settings:CellSettings.shard(in_strategy,kwargs,out_strategy,parameter_plan)
        nn.cell_settings:CellSettings.update_cell_type(cell_type)
        device.parallel:Layout.__call__(tensor_map)
        device.parallel:shard(args,kwargs,out_strategy) tensor.parameter:Parameter.init_data(layout,set_sliced)
        tensor.parameter:Parameter.set_data(slice_shape) train.serialization:ckpt_to_safetensors(processes_num)
        train.serialization:load_checkpoint(remove_redundancy)
        train.serialization:load_param_into_net(remove_redundancy)
        train.serialization:safetensors_to_ckpt(processes_num) train.serialization:save_checkpoint(integrated_save)
    """,
    ONE_ORDER: """
        api.functional.sorting:topk(sorted) mint.order:argsort(stable) mint.order:sort(stable)
        mint.order:topk(sorted)
    """,
    NO_LOCKS: """
        api.functional.index:index_add(use_lock) api.functional.structure:_scattered.function(use_locking)
    """,
    SCRATCH: """
        api.functional.index:index_add(check_index_bound) scipy.linalg:cho_factor(check_finite,overwrite_a)
        scipy.linalg:cho_solve(check_finite,overwrite_b) scipy.linalg:cholesky(check_finite,overwrite_a)
        scipy.linalg:det(check_finite,overwrite_a) scipy.linalg:eigh(check_finite,overwrite_a,overwrite_b,turbo,type)
        scipy.linalg:inv(check_finite,overwrite_a) scipy.linalg:solve_triangular(check_finite,debug,overwrite_b)
    """,
    HINT: """
        nn.wrap.grad_reducer:DistributedGradReducer.__init__(fusion_type)
        api.functional.creation:range(maxlen) api.functional.loops:ForiLoop.construct(unroll)
        api.functional.structure:MultitypeFuncGraph.__init__(read_value)
        api.functional.loops:Scan.construct(unroll) api.public_ops:constexpr(check,get_instance,name,reuse_result)
        common.hooks:lazy_inline(attrs) dataset.dataset:Dataset.create_dict_iterator(do_copy)
        dataset.dataset:Dataset.create_tuple_iterator(do_copy) dataset.dataset:Dataset.output_shapes(estimate)
        dataset.dataset:Dataset.sync_update(num_batch) dataset.dataset:Dataset.sync_wait(num_batch)
        dataset.annotated:CocoDataset.__init__(cache)
        dataset.annotated:VOCDataset.__init__(cache)
        dataset.files:CSVDataset.__init__(cache)
        dataset.files:IMDBDataset.__init__(cache)
        dataset.files:TextFileDataset.__init__(cache)
        dataset.files:_Images.__init__(cache)
        dataset.records:ImageFolderDataset.__init__(cache)
        dataset.tfrecord:TFRecordDataset.__init__(cache,shard_equal_rows)
        dataset.records:MindDataset.__init__(cache)
        dataset.sources:GeneratorDataset.__init__(max_rowsize)
        jit.decorator:jit(compile_once,hash_args)
        jit.extras:constexpr(check,reuse_result) dataset.mindrecord:FileReader.__init__(num_consumer)
        dataset.mindrecord:FileWriter.write_raw_data(parallel_writer)
        train.callback.records:SummaryCollector.__init__(num_process)
        train.callback.records:SummaryRecord.__init__(num_process)
        train.model:Model.build(epoch,sink_mode,sink_size,valid_dataset) train.model:Model.eval(dataset_sink_mode)
        train.model:Model.fit(dataset_sink_mode,sink_size,valid_dataset_sink_mode)
        train.model:Model.train(dataset_sink_mode,sink_size)
    """,
    HOOK: """
        api.update_rules:adagrad_da(var) train.callback.progress:ProgressBar.on_eval_begin(run_context)
        train.callback.progress:ProgressBar.on_train_begin(run_context)
        train.callback.progress:ProgressBar.on_train_end(run_context)
        experimental.optim.adaptive:ASGD.before_group(number) experimental.optim.adaptive:Adagrad.before_group(number)
        experimental.optim.adaptive:Rprop.before_group(group,lr,number)
        experimental.optim.moments:_Moments.before_group(lr,number)
        experimental.optim.optimizer:Optimizer.before_group(group,lr,number)
        experimental.optim.schedules:_factor.check(name,owner) nn.checks:same(name,owner)
        train.callback.monitors:EarlyStopping.on_train_begin(run_context)
        train.callback.monitors:EarlyStopping.on_train_end(run_context)
        train.callback.monitors:LossMonitor.on_train_end(run_context)
        train.callback.monitors:ReduceLROnPlateau.on_train_begin(run_context)
        train.profiling:DynamicProfilerMonitor.on_train_begin(run_context)
        train.profiling:DynamicProfilerMonitor.on_train_end(run_context)
    """,
    CONTRACT: """
        nn.layer.basic:Identity.__init__(args,kwargs)
        nn.wrap.cell_wrapper:GetNextSingleOp.__init__(dataset_shapes,dataset_types)
        train.callback.records:SummaryCollector.__init__(collect_tensor_freq)
        train.callback.records:SummaryRecord.__init__(network)
        train.callback.records:SummaryRecord.record(train_network)
    """,
    NAMES: """
        api.functional.structure:MultitypeFuncGraph.__init__(doc_url)
        api.primitives.base:Primitive.set_prim_instance_name(name)
    """,
    PROFILE: """
        device.profiler:mstx.mark(domain,stream)
        device.profiler:mstx.range_end(domain) device.profiler:mstx.range_start(domain,stream)
        device.profiler:profile.analyse(args,kwargs)
    """,
    NO_NEED: """
        numpy.histograms:histogram_bin_edges(weights)
        api.functional.structure:depend(expr) api.tensor_basic:astype(copy)
        nn.wrap.loss_scale:TrainOneStepWithLossScaleCell.get_overflow_status(status)
        nn.wrap.loss_scale:TrainOneStepWithLossScaleCell.start_overflow_check(pre_cond)
    """,
}

KEPT: dict[str, str] = {
    NO_LOCKS: """
        nn.Adam(use_locking) nn.AdamOffload(use_locking) nn.FTRL(use_locking) nn.LazyAdam(use_locking)
        nn.ProximalAdagrad(use_locking) nn.RMSProp(use_locking)
        ops.Adam(use_locking) ops.AdamNoUpdateParam(use_locking) ops.AdamWeightDecay(use_locking)
        ops.ApplyAdagradDA(use_locking) ops.ApplyAdamWithAmsgrad(use_locking) ops.ApplyAdamWithAmsgradV2(use_locking)
        ops.ApplyCenteredRMSProp(use_locking) ops.ApplyFtrl(use_locking) ops.ApplyKerasMomentum(use_locking)
        ops.ApplyMomentum(use_locking) ops.ApplyProximalAdagrad(use_locking) ops.ApplyRMSProp(use_locking)
        ops.FusedSparseAdam(use_locking) ops.FusedSparseFtrl(use_locking) ops.FusedSparseLazyAdam(use_locking)
        ops.FusedSparseProximalAdagrad(use_locking) ops.IndexAdd(use_lock) ops.ScatterAdd(use_locking)
        ops.ScatterDiv(use_locking) ops.ScatterMax(use_locking) ops.ScatterMin(use_locking)
        ops.ScatterMul(use_locking) ops.ScatterNdAdd(use_locking) ops.ScatterNdDiv(use_locking)
        ops.ScatterNdMax(use_locking) ops.ScatterNdMin(use_locking) ops.ScatterNdMul(use_locking)
        ops.ScatterNdSub(use_locking) ops.ScatterNdUpdate(use_locking) ops.ScatterSub(use_locking)
        ops.ScatterUpdate(use_locking) ops.SparseApplyAdadelta(use_locking) ops.SparseApplyAdagrad(use_locking)
        ops.SparseApplyAdagradV2(use_locking) ops.SparseApplyFtrl(use_locking) ops.SparseApplyFtrlV2(use_locking)
        ops.SparseApplyProximalAdagrad(use_locking) ops.SparseApplyRMSProp(use_locking)
    """,
    ONE_PROCESS: """
        nn.EmbeddingLookup(manual_shapes,slice_mode,vocab_cache_size)
    """,
    CONTRACT: """
        nn.Conv2dBnAct(after_fake) nn.DenseBnAct(after_fake)
    """,
    ONE_ORDER: """
        ops.TopK(sorted)
    """,
    HINT: """
        ops.Range(maxlen)
    """,
    "what it says is in the shapes of the operands too": """
        ops.Conv2DBackpropInput(kernel_size,out_channel) ops.Conv2DTranspose(kernel_size,out_channel)
    """,
    SCRATCH: """
        ops.IndexAdd(check_index_bound)
    """,
}

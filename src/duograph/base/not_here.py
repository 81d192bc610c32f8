"""Public names of MindSpore that are not provided, and why (`absent` reads it).

Paragraphs: a module below the top (a pattern; ``-``: the top), names in it (patterns), and what is said of them. Under
the name ``mindspore`` those that are listed by themselves can be imported, and say it when they are called.
"""

NOT_HERE = r"""
dataset(\.engine.*)?: \w*Dataset AGNewsDataset AmazonReviewDataset ArgoverseDataset Caltech101Dataset
  Caltech256Dataset CelebADataset CityscapesDataset CLUEDataset CMUArcticDataset CoNLL2000Dataset
  DBpediaDataset DIV2KDataset EMnistDataset EnWik9Dataset FakeImageDataset FlickrDataset Flowers102Dataset
  Food101Dataset GraphData GTZANDataset InMemoryGraphDataset IWSLT2016Dataset IWSLT2017Dataset
  KITTIDataset KMnistDataset LFWDataset LibriTTSDataset LJSpeechDataset LSUNDataset ManifestDataset
  Multi30kDataset OBSMindDataset OmniglotDataset PennTreebankDataset PhotoTourDataset Places365Dataset
  QMnistDataset RenderedSST2Dataset SBDataset SBUDataset SemeionDataset SogouNewsDataset SpeechCommandsDataset
  SQuADDataset SST2Dataset STL10Dataset SUN397Dataset SVHNDataset TedliumDataset UDPOSDataset
  USPSDataset WIDERFaceDataset WikiTextDataset YahooAnswersDataset YelpReviewDataset YesNoDataset
= is not read yet; GeneratorDataset takes any Python object with __getitem__ and __len__

dataset(\.engine)?: DSCallback WaitedDSCallback DatasetCache Graph IterSampler UDFSampler compare serialize
  deserialize show sync_wait_for_dataset
= belongs to MindSpore's engine of data sets; here they are plain Python iterators

dataset\.audio.*: AllpassBiquad AmplitudeToDB Angle BandBiquad BandpassBiquad BandrejectBiquad BassBiquad Biquad
  ComplexNorm ComputeDeltas Contrast DBToAmplitude DCShift DeemphBiquad DetectPitchFrequency Dither
  EqualizerBiquad Fade Filtfilt Flanger FrequencyMasking Gain GriffinLim HighpassBiquad InverseMelScale
  InverseSpectrogram LFCC LFilter LowpassBiquad Magphase MaskAlongAxis MaskAlongAxisIID MelScale MelSpectrogram
  MFCC MuLawDecoding MuLawEncoding Overdrive Phaser PhaseVocoder PitchShift Resample RiaaBiquad SlidingWindowCmn
  SpectralCentroid Spectrogram TimeMasking TimeStretch TrebleBiquad Vad Vol .*
= is a transform of audio, which is not provided; map a function of your own

dataset\.vision.*: DecodeVideo VideoDecoder read_video read_video_timestamps
= is not there: duograph decodes images, no video; ds.map(lambda image: ...) takes functions of NumPy arrays

dataset\.text.*: CharNGram FilterWikipediaXML JiebaMode JiebaTokenizer SentencePieceModel SentencePieceTokenizer
  SentencePieceVocab SPieceTokenizerLoadType SPieceTokenizerOutType UnicodeScriptTokenizer
= is not provided; ds.map(lambda text: ...) takes functions of NumPy arrays

(dataset\.)?mindrecord.*: CsvToMR Cifar10ToMR Cifar100ToMR ImageNetToMR MnistToMR TFRecordToMR MindPage read_record
  set_\w+ decode_enc_mode
= converts, encrypts or shows files, which is not provided; FileWriter writes and MindDataset reads

rewrite.*: Node NodeType PatternEngine PatternNode Replacement ScopedValue SymbolTree TreeNodeHelper ValueType
  VarNode sparsify_tree .*
= edits networks as source text, which is not provided; derive from the Cell, or assign to its members

-: Node SymbolTree ScopedValue NodeType
= edits networks as source text, which is not provided; derive from the Cell, or assign to its members

boost.*: AutoBoost BoostTrainOneStepCell BoostTrainOneStepWithLossScaleCell FreezeOpt GradientFreeze
  GroupLossScaleManager LessBN OptimizerProcess ParameterProcess freeze_cell .*
= speeds training up by changing its results, which is not provided; see jit and amp

(ops.*|nn.*|common.*)?: (csr|coo|sparse)_\w+ SparseTensor SparseTensorDenseMatmul SparseToDense Sparse\w+
= computes with sparse tensors, of which there are only the containers COOTensor and CSRTensor; use x.to_dense()

ops.*: CustomRegOp CustomOpBuilder TBERegOp AiCPURegOp CpuRegOp DataType vm_impl_registry make_sig sig_rw sig_dtype
  Signature custom_info_register \w+RegOp DataType
  op_info_register get_vm_impl_fn CusMatMul
= makes operators of C++ or Ascend code, which is not provided; write the computation in ops, it is compiled, or a
  kernel in loop IR or LLVM text for ops.Custom

ops.*: CudnnGRU
= is an operator of GPUs, and there is one device, the CPU; see nn.GRU

ops.*: NPUAllocFloatStatus NPUGetFloatStatus NPUClearFloatStatus NPUGetFloatStatusV2 NPUClearFloatStatusV2
  FlashAttentionScore PromptFlashAttention IncreFlashAttention \w*V2Ext AllGatherMatmul MatmulReduceScatter
  (Prompt|Incre)?FlashAttention(Score)? moe_\w+ GeSwitch (prompt|incre)_flash_attention Moe\w+ GroupedMatmul\w*
  DecoderKVCache PromptKVCache TopKRouter DSDMatmul MatmulDDS AdamW GroupedMatmul MoeFinalizeRouting moe_token_permute
  moe_token_unpermute GroupedMatmulV4 DynamicQuantExt QuantBatchMatmul QuantV2 format_cast FusedAddTopKDiv
  MoeDistributeCombine MoeDistributeDispatch MoeInitRoutingV2 MoeTokenUnpermute RotaryPositionEmbedding
  sparse_flash_attention
= is an operator of Ascend processors, and there is one device, the CPU; see ops.flash_attention_score and the
  float functions of ops

(ops.*|common.*)?: set_dump dump TensorDump tensordump
= writes tensors of Ascend operators; print(x) works in every mode

ops.*: is_sequence_shape_unknown is_sequence_value_unknown isconstant
= asks MindSpore's compiler what it knows; shapes and values are read as in plain Python here

ops.*: BatchToSpaceNDV2 Cauchy Coalesce CombinedNonMaxSuppression ComputeAccidentalHits Dilation2D ExtractGlimpse
  ExtractVolumePatches FillDiagonal FractionalAvgPool LogNormalReverse LogUniformCandidateSampler Morph
  NonDeterministicInts ParameterizedTruncatedNormal RaggedRange ResizeArea RNNTLoss SampleDistortedBoundingBoxV2
  ScaleAndTranslate ScatterNonAliasingAdd deformable_conv2d log_uniform_candidate_sampler rotated_iou
  BatchISendIRecv nms_with_mask Shard
= is not provided; compose it of other functions of ops, which are compiled together

ops.*: PriorityReplayBufferCreate PriorityReplayBufferPush PriorityReplayBufferSample PriorityReplayBufferUpdate
  PriorityReplayBufferDestroy ReservoirReplayBufferCreate ReservoirReplayBufferPush ReservoirReplayBufferSample
  ReservoirReplayBufferDestroy TensorsQueueCreate TensorsQueuePut TensorsQueueGet TensorsQueueClear TensorsQueueClose
  TensorsQueueSize TensorArray TensorArrayWrite TensorArrayRead TensorArrayClose TensorArrayClear TensorArrayStack
  TensorArraySize EnvCreate EnvReset EnvStep MuxSend MuxReceive DiscountedReturn
= belongs to MindSpore's package for reinforcement learning, which is not provided; write the buffer as a Python class

nn.*: THOR DenseThor Conv2dThor EmbeddingThor OptTFTWrapper AdaFactor Adasum
  AdaSumByGradWrapCell AdaSumByDeltaWeightWrapCell AdasumByDeltaWeightWrapCell thor
  ThorOptimizer
= is an optimizer that is not provided; CONTRIBUTING.md shows how to write one in twenty lines

nn.*: ActQuant Conv2dBnFoldQuant Conv2dQuant DenseQuant \w*(Quant|Fold)\w*
= computes with quantised weights, which is not provided

nn.*: PipelineCell MicroBatchInterleaved GradAccumulationCell
= cuts networks over devices, which is done by hand here: see parallel (Pipeline, shard) and docs/distributed.md

nn.*: MultiFieldEmbeddingLookup set_nn no_init_parameters
= is not provided; see nn.EmbeddingLookup, and Parameter, whose values are there when it is made

(nn(\.metrics.*)?|train.*)?: HausdorffDistance MeanSurfaceDistance RootMeanSquareDistance OcclusionSensitivity MindData
= is a metric that is not provided; derive one from train.Metric

(train.*)?: BackupAndRestore FlopsUtilizationCollector TFTRegister TrainFaultTolerance SummaryLandscape
  ConvertModelUtils ConvertNetUtils
= is a callback of clusters or of MindSpore's tools, which is not provided; see ModelCheckpoint and
  SummaryCollector

(train.*|parallel.*|common.*)?: convert_model convert_checkpoints
  convert_checkpoint_by_rank rank_list_for_convert merge_pipeline_strategys set_op_strategy_config
  build_searched_strategy merge_sliced_parameter load_distributed_checkpoint parse_print
  restore_group_info_list obfuscate_ckpt load_obf_params_into_net unified_safetensors
  transform_checkpoints transform_checkpoint_by_rank rank_list_for_transform load_segmented_checkpoints
  load_mindir save_mindir export_split_mindir get_ckpt_path_with_strategy check_checkpoint EncryptedCkpt
= belongs to files and tools of MindSpore that are not provided; see save_checkpoint and load_checkpoint

(parallel.*)?: AutoParallel sync_pipeline_shared_parameters
= cuts networks over devices, which is done by hand here: see parallel (Pipeline, shard) and docs/distributed.md

ops.*: _MirrorOperator _MirrorMiniStepOperator _MirrorMicroStepOperator _MiniStepAllGather _MicroStepAllGather
  _VirtualDataset _VirtualDiv _VirtualAdd _VirtualOutput _VirtualAssignAdd _VirtualAccuGrad _VirtualPipelineEnd
  _AllSwap _GetTensorSlice _HostAllGather _HostReduceScatter NeighborExchangeV2
= is what MindSpore puts into networks that it cuts over devices, which is done by hand here: see parallel (Pipeline,
  shard) and docs/distributed.md

parallel\._cost_model_context: _(set|get)_\w+ _set_multi_subgraphs _set_algo_single_loop _set_rp_matmul_mem_coef
  set_cost_model_context get_cost_model_context cost_model_context
= weighs how networks are cut over devices, which is done by hand here: see docs/distributed.md

communication\._comm_helper: Backend _get_rank_helper _get_size_helper _get_group_ranks _is_initialized
= reaches into MindSpore's own communication; see get_rank and get_group_size of communication

_c_expression\.amp: create_amp_strategy
= casts inside MindSpore's compiler; see amp.auto_mixed_precision

ops.*: _check_attn_mask_shape _check_kpm_shape _check_qkv_shape _in_projection _in_projection_packed _inner_dropout
  _inner_pad multi_head_attention_forward
= is the inside of a layer; see nn.MultiheadAttention

ops\._vmap.*: vmap_rules_getters vmap_general_preprocess get_vmap_rule .*
= batches MindSpore's own operators; here vmap derives that from how operators are declared

dataset\.core\.datatypes: mstype_to_detype
= names types inside MindSpore's data pipeline; see dataset.transforms.TypeCast

train.*: get_parameter_redundancy remove_param_redundancy _get_merged_param_data _exec_save
  _get_summary_tensor_data _save_graph set_cur_net checkpoint_cb_for_save_op CheckpointManager
  ParallelStrategyMap BackupAndRestore
= belongs to files and tools of MindSpore that are not provided; see save_checkpoint and load_checkpoint

ops.*: ApplyRotaryPosEmb BasicLSTMCell CopyWithSlice DeformableOffsets DepthwiseConv2dNative DtypeToEnum DumpGradient
  DynamicShape ExtractImagePatches FusedAdaFactor FusedAdaFactorWithGlobalNorm FusedCastAdamWeightDecay
  FusedWeightScaleApplyMomentum GroupTopk J LerpScalar MapCacheIdx MapUniform Merge MoveTo
  PagedAttention PagedAttentionMask Pull Push PyExecute PyFunc ReshapeAndCache Reshard Reusing SelectView
  SliceGetItem SubAndFilter TensorToTuple TransposeExtView UpdateState arg_dtype_cast array_reduce
  array_to_scalar augassign_add augassign_div augassign_floordiv augassign_mod augassign_mul augassign_sub
  broadcast_gradient_args clamp_ coalesce conv3d_transpose coo2csr cpp_create_prim_instance_helper csr2coo
  dict_setitem distribute embed env_get environ_add environ_create environ_get environ_set
  fused_infer_attention_score geswitch hastype hyper_add inplace_sigmoid is_dynamic_sequence_element_unknown
  is_tensor_bool_cond iter_converter lightning_indexer list_equal list_setitem make_coo_tensor make_csr_tensor
  make_dict make_map_parameter make_row_tensor make_row_tensor_inner make_sparse_tensor merge
  mixed_precision_cast ms_hasnext ms_kernel ms_next multi_scale_deformable_attn_function nsa_compress
  nsa_compress_attention nsa_select_attention put_ pyboost_inner_prim recompute_block reduced_shape
  ref_to_embed reshape_ reshard ring_attention_update row_tensor_add row_tensor_get_dense_shape
  row_tensor_get_indices row_tensor_get_values shape_mul speed_fusion_attention switch switch_layer tanh_
  tensor_expm1 tuple_div tuple_equal tuple_setitem zero_ zip_operation
= belongs to MindSpore's compiler or to Ascend processors, and is not provided; compose it of other functions of
  ops, which are compiled together

ops.*: P2POp TCPStore all_gather all_gather_into_tensor all_gather_into_tensor_uneven all_gather_matmul
  all_gather_object all_reduce all_to_all all_to_all_single all_to_all_v_c barrier batch_isend_irecv broadcast
  broadcast_object_list destroy_process_group gather_into_tensor gather_object get_backend get_global_rank
  get_group_rank get_process_group_ranks get_rank get_world_size init_process_group irecv is_available
  is_initialized isend matmul_reduce_scatter new_group recv recv_object_list reduce_scatter
  reduce_scatter_tensor reduce_scatter_tensor_uneven scatter_object_list scatter_tensor send send_object_list
  set_comm_ops_inplace
= is in mint.distributed and in communication.comm_func

(common.*)?: CustomPassType DeviceCtx get_sdc_detect_result sdc_detect_start sdc_detect_stop UntypedStorage ValueType
  hifloat8 qint4x2 swap_tensors
  mindio_preload set_mindio_server_info clear_op_infer clear_op_wrapper register_custom_backend
  register_custom_pass register_op_infer register_op_wrapper parameter_broadcast
= belongs to MindSpore's own compiler, devices and files, and is not provided; passes.register and
  jit(backend=function) take passes and backends

graph: CustomPassType clear_op_infer clear_op_wrapper register_custom_backend register_custom_pass register_op_infer
  register_op_wrapper
= belongs to MindSpore's own compiler; passes.register and jit(backend=function) take passes and backends

(runtime)?: MemPool PluggableAllocator StreamLimitCtx get_device_limit get_stream_limit memory_replay reset_stream_limit
  set_device_limit set_kernel_launch_capture set_kernel_launch_group set_stream_limit use_mem_pool
= sets up Ascend and GPU devices; there is one device, the CPU

utils: ExitByRequest MsDispatchMode RSCPluginHandle TFTCommValue comm_exec_order_check dryrun get_sdc_detect_result
  runtime_execution_order_check sdc_detect_start sdc_detect_stop stress_detect
= looks after clusters of Ascend processors, and is not provided

mint.*: addr_ batch_norm_elemt batch_norm_gather_stats_with_counts batch_norm_stats conv_tbc npu_gelu triangular_solve
  sigmoid_ FusedAdamW SyncBatchNorm
= is not provided; compose it of other functions of mint, which are compiled together

hal\.contiguous_tensors_handle: .*
= joins tensors in the memory of devices; there is one device, the CPU, and ops.concat joins tensors

(train\.)?amp: AMP_PRIM_ARG_TABLE AmpDecorator MS_AMP_BY_REWRITE amp_cast \w+_amp_strategy
= belongs to how MindSpore casts, operator by operator; see amp.auto_mixed_precision and amp.build_train_network

nn.*: EmbeddingLookupThor PipelineGradReducer VirtualDatasetCellTriple get_metrics
  register_cell_buffer_registration_hook
= belongs to MindSpore's automatic parallel training and its tools, and is not provided

profiler.*: EnvProfiler
= reads settings of MindSpore's profiler from the environment; see profile()

-: set_offload_context get_offload_context
= moves data between memories, and there is one

(common.*)?: saved_tensors_hooks register_saved_tensors_hooks
= changes what gradients keep, which is not provided

(common.*)?: flops_collection
= counts on Ascend; summary(net, x) counts operations of layers

(ops.*|common.*)?: arg_dtype_cast QuantDtype
= belongs to MindSpore's own operators, and is not provided

numpy.*: select gradient interp isin nanmedian polyfit polydiv poly roots bartlett blackman hamming hanning choose
  piecewise mask_indices ix_ lexsort digitize convolve correlate corrcoef unwrap fmin fmax sinc union1d setxor1d
  result_type promote_types sample randperm
= is not provided; NumPy's own function of this name takes Tensors and gives an array, and ops has what has
  gradients

scipy.*: dctn idctn lu lu_factor lstsq dct idct minimize line_search linear_sum_assignment OptimizeResults
= is not provided; SciPy's own function takes x.asnumpy()

device_context.*: threads_num launch_blocking debug_level set_launch_blocking is_available device_count .*
= sets up Ascend and GPU devices; there is one device, the CPU

mint\.distributed: TCPStore
= is a store of PyTorch's; processes find each other by MPI (docs/distributed.md)

safeguard.*: obfuscate_ckpt load_obf_params_into_net
= hides networks in encrypted files, which is not provided

dataset\.callback: DSCallback WaitedDSCallback
= belongs to MindSpore's engine of data sets; here they are plain Python iterators

experimental.*: MapParameter EmbeddingService
= belongs to embedding services of clusters, which are not provided; see nn.Embedding

(train\.serialization|train\.train_thor): load_distributed_checkpoint merge_sliced_parameter ConvertModelUtils
  ConvertNetUtils
= belongs to files and tools of MindSpore that are not provided; see save_checkpoint and load_checkpoint

safeguard.*|parallel\.checkpoint_transform.*|parallel\.nn.*: .*
= is not provided
"""

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

dataset: DSCallback WaitedDSCallback DatasetCache Graph IterSampler UDFSampler compare serialize
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

dataset\.text.*: AddToken BasicTokenizer BertTokenizer CaseFold CharNGram FastText FilterWikipediaXML GloVe
  JiebaMode JiebaTokenizer Ngram NormalizeForm NormalizeUTF8 RegexReplace RegexTokenizer SentencePieceModel
  SentencePieceTokenizer SentencePieceVocab SlidingWindow SPieceTokenizerLoadType SPieceTokenizerOutType ToNumber
  ToVectors TruncateSequencePair Truncate UnicodeScriptTokenizer Vectors WordpieceTokenizer to_bytes to_str
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
  GradientAccumulation GroupLossScaleManager LessBN OptimizerProcess ParameterProcess freeze_cell .*
= speeds training up by changing its results, which is not provided; see jit and amp

(ops.*|nn.*)?: (csr|coo|sparse)_\w+ SparseTensor SparseTensorDenseMatmul SparseToDense Sparse\w+
= computes with sparse tensors, of which there are only the containers COOTensor and CSRTensor; use x.to_dense()

ops.*: CustomRegOp CustomOpBuilder TBERegOp AiCPURegOp CpuRegOp DataType vm_impl_registry make_sig sig_rw sig_dtype
  Signature custom_info_register kernel \w+RegOp DataType
  op_info_register get_vm_impl_fn CusMatMul
= makes operators of C++ or Ascend code, which is not provided; write the computation in ops, it is compiled, or a
  kernel in loop IR or LLVM text for ops.Custom

ops.*: NPUAllocFloatStatus NPUGetFloatStatus NPUClearFloatStatus NPUGetFloatStatusV2 NPUClearFloatStatusV2
  FlashAttentionScore PromptFlashAttention IncreFlashAttention \w*V2Ext AllGatherMatmul MatmulReduceScatter
  (Prompt|Incre)?FlashAttention(Score)? moe_\w+ GeSwitch (prompt|incre)_flash_attention Moe\w+ GroupedMatmul\w*
= is an operator of Ascend processors, and there is one device, the CPU; see ops.flash_attention_score and the
  float functions of ops

(ops.*)?: set_dump dump TensorDump tensordump
= writes tensors of Ascend operators; print(x) works in every mode

ops.*: is_sequence_shape_unknown is_sequence_value_unknown isconstant
= asks MindSpore's compiler what it knows; shapes and values are read as in plain Python here

ops.*: BatchToSpaceNDV2 Cauchy Coalesce CombinedNonMaxSuppression ComputeAccidentalHits Dilation2D ExtractGlimpse
  ExtractVolumePatches FillDiagonal FractionalAvgPool LogNormalReverse LogUniformCandidateSampler Morph
  NonDeterministicInts ParameterizedTruncatedNormal RaggedRange ResizeArea RNNTLoss SampleDistortedBoundingBoxV2
  ScaleAndTranslate ScatterNonAliasingAdd deformable_conv2d log_uniform_candidate_sampler rotated_iou
  BatchISendIRecv nms_with_mask Shard
= is not provided; compose it of other functions of ops, which are compiled together

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

(nn|train)?: HausdorffDistance MeanSurfaceDistance RootMeanSquareDistance OcclusionSensitivity MindData
= is a metric that is not provided; derive one from train.Metric

(train)?: BackupAndRestore FlopsUtilizationCollector TFTRegister TrainFaultTolerance SummaryLandscape
  ConvertModelUtils ConvertNetUtils
= is a callback of clusters or of MindSpore's tools, which is not provided; see ModelCheckpoint and
  SummaryCollector

(train\.serialization|parallel\.checkpoint_transform)?: convert_model
  build_searched_strategy merge_sliced_parameter load_distributed_checkpoint parse_print
  restore_group_info_list obfuscate_ckpt load_obf_params_into_net unified_safetensors
  transform_checkpoints transform_checkpoint_by_rank rank_list_for_transform load_segmented_checkpoints
  load_mindir save_mindir export_split_mindir get_ckpt_path_with_strategy check_checkpoint EncryptedCkpt
= belongs to files and tools of MindSpore that are not provided; see save_checkpoint and load_checkpoint

-: AutoParallel sync_pipeline_shared_parameters
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

ops\._vmap.*: vmap_rules_getters vmap_general_preprocess get_vmap_rule .*
= batches MindSpore's own operators; here vmap derives that from how operators are declared

train.*: _exec_save _save_graph _update_param set_cur_net checkpoint_cb_for_save_op CheckpointManager
  ParallelStrategyMap BackupAndRestore
= belongs to files and tools of MindSpore that are not provided; see save_checkpoint and load_checkpoint

-: set_offload_context get_offload_context
= moves data between memories, and there is one

-: saved_tensors_hooks register_saved_tensors_hooks
= changes what gradients keep, which is not provided

-: flops_collection
= counts on Ascend; summary(net, x) counts operations of layers

-: arg_dtype_cast QuantDtype
= belongs to MindSpore's own operators, and is not provided

numpy.*: select gradient interp isin nanmedian polyfit polydiv poly roots bartlett blackman hamming hanning choose
  piecewise mask_indices ix_ lexsort digitize convolve correlate corrcoef unwrap fmin fmax sinc union1d setxor1d
  result_type promote_types sample randperm
= is not provided; NumPy's own function of this name takes Tensors and gives an array, and ops has what has
  gradients

scipy.*: lu lu_factor lstsq dct idct minimize line_search linear_sum_assignment OptimizeResults
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

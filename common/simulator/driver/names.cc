// Which version of CUDA brought which function, as cudaTypedefs.h and its like have it.
#include "common/simulator/driver/symbols.h"

namespace simulator {
namespace {

constexpr Names names[] = {
    {2000,
     "cuArray3DCreate cuArray3DGetDescriptor cuArrayCreate cuArrayDestroy cuArrayGetDescriptor "
     "cuCtxAttach cuCtxCreate cuCtxDestroy cuCtxDetach cuCtxGetDevice cuCtxPopCurrent cuCtxPushCurrent "
     "cuCtxSynchronize cuDeviceComputeCapability cuDeviceGet cuDeviceGetAttribute cuDeviceGetCount "
     "cuDeviceGetName cuDeviceGetProperties cuDeviceTotalMem cuEventCreate cuEventDestroy "
     "cuEventElapsedTime cuEventQuery cuEventRecord cuEventSynchronize cuFuncSetBlockShape "
     "cuFuncSetSharedSize cuGLCtxCreate cuGLInit cuGLMapBufferObject cuGLRegisterBufferObject "
     "cuGLUnmapBufferObject cuGLUnregisterBufferObject cuInit cuLaunch cuLaunchGrid cuLaunchGridAsync "
     "cuMemAlloc cuMemAllocHost cuMemAllocPitch cuMemFree cuMemFreeHost cuMemGetAddressRange "
     "cuMemGetInfo cuMemcpy2D cuMemcpy2DAsync cuMemcpy2DUnaligned cuMemcpy3D cuMemcpy3DAsync "
     "cuMemcpyAtoA cuMemcpyAtoD cuMemcpyAtoH cuMemcpyAtoHAsync cuMemcpyDtoA cuMemcpyDtoD cuMemcpyDtoH "
     "cuMemcpyDtoHAsync cuMemcpyHtoA cuMemcpyHtoAAsync cuMemcpyHtoD cuMemcpyHtoDAsync cuMemsetD16 "
     "cuMemsetD2D16 cuMemsetD2D32 cuMemsetD2D8 cuMemsetD32 cuMemsetD8 cuModuleGetFunction "
     "cuModuleGetGlobal cuModuleGetTexRef cuModuleLoad cuModuleLoadData cuModuleLoadFatBinary "
     "cuModuleUnload cuParamSetSize cuParamSetTexRef cuParamSetf cuParamSeti cuParamSetv "
     "cuStreamCreate cuStreamDestroy cuStreamQuery cuStreamSynchronize cuTexRefCreate cuTexRefDestroy "
     "cuTexRefGetAddress cuTexRefGetAddressMode cuTexRefGetArray cuTexRefGetFilterMode "
     "cuTexRefGetFlags cuTexRefGetFormat cuTexRefSetAddress cuTexRefSetAddressMode cuTexRefSetArray "
     "cuTexRefSetFilterMode cuTexRefSetFlags cuTexRefSetFormat"},
    {2010, "cuModuleLoadDataEx"},
    {2020,
     "cuDriverGetVersion cuFuncGetAttribute cuMemHostAlloc cuMemHostGetDevicePointer "
     "cuTexRefSetAddress2D cuWGLGetDevice"},
    {2030,
     "cuGLMapBufferObjectAsync cuGLSetBufferObjectMapFlags cuGLUnmapBufferObjectAsync "
     "cuMemHostGetFlags"},
    {3000,
     "cuFuncSetCacheConfig cuGetExportTable cuGraphicsGLRegisterBuffer cuGraphicsGLRegisterImage "
     "cuGraphicsMapResources cuGraphicsResourceGetMappedPointer cuGraphicsResourceSetMapFlags "
     "cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources cuGraphicsUnregisterResource "
     "cuMemcpyDtoDAsync cuModuleGetSurfRef cuSurfRefGetArray cuSurfRefSetArray"},
    {3010,
     "cuCtxGetLimit cuCtxSetLimit cuGraphicsVDPAURegisterOutputSurface "
     "cuGraphicsVDPAURegisterVideoSurface cuVDPAUCtxCreate cuVDPAUGetDevice"},
    {3020,
     "cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayCreate_v2 cuArrayGetDescriptor_v2 "
     "cuCtxCreate_v2 cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxSetCacheConfig cuDeviceTotalMem_v2 "
     "cuGLCtxCreate_v2 cuGLMapBufferObjectAsync_v2 cuGLMapBufferObject_v2 "
     "cuGraphicsResourceGetMappedPointer_v2 cuMemAllocHost_v2 cuMemAllocPitch_v2 cuMemAlloc_v2 "
     "cuMemFree_v2 cuMemGetAddressRange_v2 cuMemGetInfo_v2 cuMemHostGetDevicePointer_v2 "
     "cuMemcpy2DAsync_v2 cuMemcpy2DUnaligned_v2 cuMemcpy2D_v2 cuMemcpy3DAsync_v2 cuMemcpy3D_v2 "
     "cuMemcpyAtoA_v2 cuMemcpyAtoD_v2 cuMemcpyAtoHAsync_v2 cuMemcpyAtoH_v2 cuMemcpyDtoA_v2 "
     "cuMemcpyDtoDAsync_v2 cuMemcpyDtoD_v2 cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2 cuMemcpyHtoAAsync_v2 "
     "cuMemcpyHtoA_v2 cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemsetD16Async cuMemsetD16_v2 "
     "cuMemsetD2D16Async cuMemsetD2D16_v2 cuMemsetD2D32Async cuMemsetD2D32_v2 cuMemsetD2D8Async "
     "cuMemsetD2D8_v2 cuMemsetD32Async cuMemsetD32_v2 cuMemsetD8Async cuMemsetD8_v2 "
     "cuModuleGetGlobal_v2 cuStreamWaitEvent cuTexRefGetAddress_v2 cuTexRefSetAddress2D_v2 "
     "cuTexRefSetAddress_v2 cuVDPAUCtxCreate_v2"},
    {4000,
     "cuCtxDestroy_v2 cuCtxDisablePeerAccess cuCtxEnablePeerAccess cuCtxGetCurrent cuCtxPopCurrent_v2 "
     "cuCtxPushCurrent_v2 cuCtxSetCurrent cuDeviceCanAccessPeer cuEventDestroy_v2 cuLaunchKernel "
     "cuMemHostRegister cuMemHostUnregister cuMemcpy cuMemcpy3DPeer cuMemcpy3DPeerAsync cuMemcpyAsync "
     "cuMemcpyPeer cuMemcpyPeerAsync cuPointerGetAttribute cuProfilerInitialize cuProfilerStart "
     "cuProfilerStop cuStreamDestroy_v2"},
    {4010,
     "cuDeviceGetByPCIBusId cuDeviceGetPCIBusId cuGLGetDevices cuIpcCloseMemHandle cuIpcGetEventHandle "
     "cuIpcGetMemHandle cuIpcOpenEventHandle cuIpcOpenMemHandle cuTexRefSetAddress2D_v3"},
    {4020, "cuCtxGetSharedMemConfig cuCtxSetSharedMemConfig cuFuncSetSharedMemConfig"},
    {5000,
     "cuGraphicsResourceGetMappedMipmappedArray cuMipmappedArrayCreate cuMipmappedArrayDestroy "
     "cuMipmappedArrayGetLevel cuStreamAddCallback cuSurfObjectCreate cuSurfObjectDestroy "
     "cuSurfObjectGetResourceDesc cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc "
     "cuTexObjectGetResourceViewDesc cuTexObjectGetTextureDesc cuTexRefGetMaxAnisotropy "
     "cuTexRefGetMipmapFilterMode cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp "
     "cuTexRefGetMipmappedArray cuTexRefSetMaxAnisotropy cuTexRefSetMipmapFilterMode "
     "cuTexRefSetMipmapLevelBias cuTexRefSetMipmapLevelClamp cuTexRefSetMipmappedArray"},
    {5050,
     "cuCtxGetStreamPriorityRange cuLinkAddData cuLinkAddFile cuLinkComplete cuLinkCreate "
     "cuLinkDestroy cuStreamCreateWithPriority cuStreamGetFlags cuStreamGetPriority"},
    {6000, "cuGetErrorName cuGetErrorString cuMemAllocManaged cuPointerSetAttribute cuStreamAttachMemAsync"},
    {6050,
     "cuGLGetDevices_v2 cuGraphicsResourceSetMapFlags_v2 cuLinkAddData_v2 cuLinkAddFile_v2 "
     "cuLinkCreate_v2 cuMemHostRegister_v2 cuOccupancyMaxActiveBlocksPerMultiprocessor "
     "cuOccupancyMaxPotentialBlockSize"},
    {7000,
     "cuCtxGetFlags cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRelease cuDevicePrimaryCtxReset "
     "cuDevicePrimaryCtxRetain cuDevicePrimaryCtxSetFlags cuEGLStreamConsumerAcquireFrame "
     "cuEGLStreamConsumerConnect cuEGLStreamConsumerDisconnect cuEGLStreamConsumerReleaseFrame "
     "cuEGLStreamProducerConnect cuEGLStreamProducerDisconnect cuEGLStreamProducerPresentFrame "
     "cuEGLStreamProducerReturnFrame cuGraphicsEGLRegisterImage cuGraphicsResourceGetMappedEglFrame "
     "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuOccupancyMaxPotentialBlockSizeWithFlags "
     "cuPointerGetAttributes"},
    {8000,
     "cuDeviceGetP2PAttribute cuEGLStreamConsumerConnectWithFlags cuMemAdvise cuMemPrefetchAsync "
     "cuMemRangeGetAttribute cuMemRangeGetAttributes cuStreamBatchMemOp cuStreamWaitValue32 "
     "cuStreamWriteValue32 cuTexRefGetBorderColor cuTexRefSetBorderColor"},
    {9000,
     "cuEventCreateFromEGLSync cuFuncSetAttribute cuLaunchCooperativeKernel "
     "cuLaunchCooperativeKernelMultiDevice cuStreamWaitValue64 cuStreamWriteValue64"},
    {9020, "cuDeviceGetUuid cuStreamGetCtx"},
    {10000,
     "cuDestroyExternalMemory cuDestroyExternalSemaphore cuDeviceGetLuid "
     "cuExternalMemoryGetMappedBuffer cuExternalMemoryGetMappedMipmappedArray cuGraphAddChildGraphNode "
     "cuGraphAddDependencies cuGraphAddEmptyNode cuGraphAddHostNode cuGraphAddKernelNode "
     "cuGraphAddMemcpyNode cuGraphAddMemsetNode cuGraphChildGraphNodeGetGraph cuGraphClone "
     "cuGraphCreate cuGraphDestroy cuGraphDestroyNode cuGraphExecDestroy cuGraphGetEdges "
     "cuGraphGetNodes cuGraphGetRootNodes cuGraphHostNodeGetParams cuGraphHostNodeSetParams "
     "cuGraphInstantiate cuGraphKernelNodeGetParams cuGraphKernelNodeSetParams cuGraphLaunch "
     "cuGraphMemcpyNodeGetParams cuGraphMemcpyNodeSetParams cuGraphMemsetNodeGetParams "
     "cuGraphMemsetNodeSetParams cuGraphNodeFindInClone cuGraphNodeGetDependencies "
     "cuGraphNodeGetDependentNodes cuGraphNodeGetType cuGraphRemoveDependencies cuImportExternalMemory "
     "cuImportExternalSemaphore cuLaunchHostFunc cuSignalExternalSemaphoresAsync cuStreamBeginCapture "
     "cuStreamEndCapture cuStreamIsCapturing cuWaitExternalSemaphoresAsync"},
    {10010,
     "cuGraphExecKernelNodeSetParams cuStreamBeginCapture_v2 cuStreamGetCaptureInfo "
     "cuThreadExchangeStreamCaptureMode"},
    {10020,
     "cuDeviceGetNvSciSyncAttributes cuGraphExecHostNodeSetParams cuGraphExecMemcpyNodeSetParams "
     "cuGraphExecMemsetNodeSetParams cuGraphExecUpdate cuMemAddressFree cuMemAddressReserve "
     "cuMemCreate cuMemExportToShareableHandle cuMemGetAccess cuMemGetAllocationGranularity "
     "cuMemGetAllocationPropertiesFromHandle cuMemImportFromShareableHandle cuMemMap cuMemRelease "
     "cuMemSetAccess cuMemUnmap cuOccupancyAvailableDynamicSMemPerBlock"},
    {11000,
     "cuCtxResetPersistingL2Cache cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2 "
     "cuDevicePrimaryCtxSetFlags_v2 cuFuncGetModule cuGraphInstantiate_v2 "
     "cuGraphKernelNodeCopyAttributes cuGraphKernelNodeGetAttribute cuGraphKernelNodeSetAttribute "
     "cuIpcOpenMemHandle_v2 cuMemRetainAllocationHandle cuStreamCopyAttributes cuStreamGetAttribute "
     "cuStreamSetAttribute"},
    {11010,
     "cuArrayGetSparseProperties cuDeviceGetTexture1DLinearMaxWidth cuEventRecordWithFlags "
     "cuGraphAddEventRecordNode cuGraphAddEventWaitNode cuGraphEventRecordNodeGetEvent "
     "cuGraphEventRecordNodeSetEvent cuGraphEventWaitNodeGetEvent cuGraphEventWaitNodeSetEvent "
     "cuGraphExecChildGraphNodeSetParams cuGraphExecEventRecordNodeSetEvent "
     "cuGraphExecEventWaitNodeSetEvent cuGraphUpload cuMemMapArrayAsync "
     "cuMipmappedArrayGetSparseProperties"},
    {11020,
     "cuArrayGetPlane cuDeviceGetDefaultMemPool cuDeviceGetMemPool cuDeviceSetMemPool "
     "cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode "
     "cuGraphExecExternalSemaphoresSignalNodeSetParams cuGraphExecExternalSemaphoresWaitNodeSetParams "
     "cuGraphExternalSemaphoresSignalNodeGetParams cuGraphExternalSemaphoresSignalNodeSetParams "
     "cuGraphExternalSemaphoresWaitNodeGetParams cuGraphExternalSemaphoresWaitNodeSetParams "
     "cuMemAllocAsync cuMemAllocFromPoolAsync cuMemFreeAsync cuMemPoolCreate cuMemPoolDestroy "
     "cuMemPoolExportPointer cuMemPoolExportToShareableHandle cuMemPoolGetAccess cuMemPoolGetAttribute "
     "cuMemPoolImportFromShareableHandle cuMemPoolImportPointer cuMemPoolSetAccess "
     "cuMemPoolSetAttribute cuMemPoolTrimTo"},
    {11030,
     "cuFlushGPUDirectRDMAWrites cuGetProcAddress cuGraphDebugDotPrint cuGraphReleaseUserObject "
     "cuGraphRetainUserObject cuStreamGetCaptureInfo_v2 cuStreamUpdateCaptureDependencies "
     "cuUserObjectCreate cuUserObjectRelease cuUserObjectRetain"},
    {11040,
     "cuCtxCreate_v3 cuCtxGetExecAffinity cuDeviceGetExecAffinitySupport cuDeviceGetGraphMemAttribute "
     "cuDeviceGetUuid_v2 cuDeviceGraphMemTrim cuDeviceSetGraphMemAttribute cuGraphAddMemAllocNode "
     "cuGraphAddMemFreeNode cuGraphInstantiateWithFlags cuGraphMemAllocNodeGetParams "
     "cuGraphMemFreeNodeGetParams"},
    {11060,
     "cuArrayGetMemoryRequirements cuGraphNodeGetEnabled cuGraphNodeSetEnabled cuLaunchKernelEx "
     "cuMipmappedArrayGetMemoryRequirements"},
    {11070,
     "cuGraphAddBatchMemOpNode cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams "
     "cuGraphExecBatchMemOpNodeSetParams cuMemGetHandleForAddressRange cuModuleGetLoadingMode "
     "cuOccupancyMaxActiveClusters cuOccupancyMaxPotentialClusterSize cuStreamBatchMemOp_v2 "
     "cuStreamWaitValue32_v2 cuStreamWaitValue64_v2 cuStreamWriteValue32_v2 cuStreamWriteValue64_v2"},
    {12000,
     "cuCtxGetId cuGetProcAddress_v2 cuGraphAddKernelNode_v2 cuGraphExecGetFlags "
     "cuGraphExecKernelNodeSetParams_v2 cuGraphExecUpdate_v2 cuGraphInstantiateWithParams "
     "cuGraphKernelNodeGetParams_v2 cuGraphKernelNodeSetParams_v2 cuKernelGetAttribute "
     "cuKernelGetFunction cuKernelSetAttribute cuKernelSetCacheConfig cuLibraryGetGlobal "
     "cuLibraryGetKernel cuLibraryGetManaged cuLibraryGetModule cuLibraryGetUnifiedFunction "
     "cuLibraryLoadData cuLibraryLoadFromFile cuLibraryUnload cuStreamGetId cuTensorMapEncodeIm2col "
     "cuTensorMapEncodeTiled cuTensorMapReplaceAddress"},
    {12010,
     "cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal cuCoredumpSetAttribute "
     "cuCoredumpSetAttributeGlobal cuCtxSetFlags cuMulticastAddDevice cuMulticastBindAddr "
     "cuMulticastBindMem cuMulticastCreate cuMulticastGetGranularity cuMulticastUnbind"},
    {12020,
     "cuGraphAddNode cuGraphExecNodeSetParams cuGraphNodeSetParams cuMemAdvise_v2 "
     "cuMemPrefetchAsync_v2"},
    {12030,
     "cuFuncGetName cuGraphAddDependencies_v2 cuGraphAddNode_v2 cuGraphConditionalHandleCreate "
     "cuGraphGetEdges_v2 cuGraphNodeGetDependencies_v2 cuGraphNodeGetDependentNodes_v2 "
     "cuGraphRemoveDependencies_v2 cuKernelGetName cuStreamBeginCaptureToGraph "
     "cuStreamGetCaptureInfo_v3 cuStreamUpdateCaptureDependencies_v2"},
    {12040,
     "cuCtxFromGreenCtx cuCtxGetDevResource cuDevResourceGenerateDesc cuDevSmResourceSplitByCount "
     "cuDeviceGetDevResource cuDeviceRegisterAsyncNotification cuDeviceUnregisterAsyncNotification "
     "cuFuncGetParamInfo cuFuncIsLoaded cuFuncLoad cuGreenCtxCreate cuGreenCtxDestroy "
     "cuGreenCtxGetDevResource cuGreenCtxRecordEvent cuGreenCtxWaitEvent cuKernelGetParamInfo "
     "cuLibraryEnumerateKernels cuLibraryGetKernelCount cuModuleEnumerateFunctions "
     "cuModuleGetFunctionCount cuStreamGetGreenCtx"},
    {12050,
     "cuCtxCreate_v4 cuCtxRecordEvent cuCtxWaitEvent cuGreenCtxStreamCreate cuKernelGetLibrary "
     "cuStreamGetCtx_v2"},
    {12060, "cuMemBatchDecompressAsync"},
    {12080,
     "cuCheckpointProcessCheckpoint cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState "
     "cuCheckpointProcessLock cuCheckpointProcessRestore cuCheckpointProcessUnlock "
     "cuEventElapsedTime_v2 cuMemcpy3DBatchAsync cuMemcpyBatchAsync cuStreamGetDevice "
     "cuTensorMapEncodeIm2colWide"},
    {12090,
     "cuGreenCtxGetId cuLogsCurrent cuLogsDumpToFile cuLogsDumpToMemory cuLogsRegisterCallback "
     "cuLogsUnregisterCallback"},
    {13000,
     "cuCtxGetDevice_v2 cuCtxSynchronize_v2 cuDeviceGetHostAtomicCapabilities "
     "cuDeviceGetP2PAtomicCapabilities cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync "
     "cuMemGetDefaultMemPool cuMemGetMemPool cuMemPrefetchBatchAsync cuMemSetMemPool "
     "cuMemcpy3DBatchAsync_v2 cuMemcpyBatchAsync_v2"},
};

}  // namespace

std::span<const Names> driver_names() {
  return names;
}

}  // namespace simulator

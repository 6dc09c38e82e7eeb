using System.Runtime.InteropServices;

namespace TierSpaces.Engine.Lanes.Uring;

// The kernel's io_uring interface (include/uapi/linux/io_uring.h), as far as a lane uses it.

/// <summary>Operation codes.</summary>
internal enum RingOpcode : byte
{
    Nop = 0,
    ReadVectors = 1,
    WriteVectors = 2,
    Sync = 3,
    ReadFixed = 4,
    WriteFixed = 5,
    PollAdd = 6,
    Cancel = 14,
    Allocate = 17,
    Read = 22,
    Write = 23,
}

/// <summary>One entry of the submission queue: 64 bytes.</summary>
[StructLayout(LayoutKind.Explicit, Size = 64)]
internal struct SubmissionEntry
{
    internal const byte FixedFile = 1;          // IOSQE_FIXED_FILE
    internal const byte Asynchronous = 1 << 4;  // IOSQE_ASYNC
    internal const uint SyncDataOnly = 1;       // IORING_FSYNC_DATASYNC
    internal const uint PollMultishot = 1;      // IORING_POLL_ADD_MULTI

    [FieldOffset(0)] internal RingOpcode Opcode;
    [FieldOffset(1)] internal byte Flags;
    [FieldOffset(2)] internal ushort Priority;
    [FieldOffset(4)] internal int Descriptor;
    [FieldOffset(8)] internal long Offset;
    [FieldOffset(16)] internal ulong Address;
    [FieldOffset(24)] internal uint Length;
    [FieldOffset(28)] internal uint OperationFlags;   // rw_flags, fsync_flags, poll events
    [FieldOffset(32)] internal ulong UserData;
    [FieldOffset(40)] internal ushort BufferIndex;    // of the table of registered buffers
}

/// <summary>One entry of the completion queue: 16 bytes.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct CompletionEntry
{
    internal const uint More = 2;               // IORING_CQE_F_MORE

    internal ulong UserData;
    internal int Result;
    internal uint Flags;
}

/// <summary>struct io_uring_params: what setup is asked for and what it answers.</summary>
[StructLayout(LayoutKind.Explicit, Size = 120)]
internal struct RingParameters
{
    [FieldOffset(0)] internal uint SubmissionEntries;
    [FieldOffset(4)] internal uint CompletionEntries;
    [FieldOffset(8)] internal RingSetup Flags;
    [FieldOffset(20)] internal RingFeatures Features;

    // io_sqring_offsets
    [FieldOffset(40)] internal uint SubmissionHead;
    [FieldOffset(44)] internal uint SubmissionTail;
    [FieldOffset(48)] internal uint SubmissionMask;
    [FieldOffset(56)] internal uint SubmissionFlags;
    [FieldOffset(64)] internal uint SubmissionArray;

    // io_cqring_offsets
    [FieldOffset(80)] internal uint CompletionHead;
    [FieldOffset(84)] internal uint CompletionTail;
    [FieldOffset(88)] internal uint CompletionMask;
    [FieldOffset(100)] internal uint CompletionArray;
}

/// <summary>IORING_SETUP_*.</summary>
[Flags]
internal enum RingSetup : uint
{
    None = 0,
    CompletionQueueSize = 1 << 3,
    Clamp = 1 << 4,
    SubmitAll = 1 << 7,
    CooperativeTaskRun = 1 << 8,
    TaskRunFlag = 1 << 9,
    SingleIssuer = 1 << 12,
    DeferTaskRun = 1 << 13,
}

/// <summary>IORING_FEAT_*.</summary>
[Flags]
internal enum RingFeatures : uint
{
    None = 0,
    SingleMap = 1,
    NoDrop = 1 << 1,
    ExtendedArgument = 1 << 8,
    ResourceTags = 1 << 10,      // came with multishot poll in 5.13, which has no feature bit of its own
}

/// <summary>struct io_uring_getevents_arg.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct EnterArgument
{
    internal ulong SignalMask;
    internal uint SignalMaskSize;
    internal uint MinimumWaitUs;
    internal ulong Timeout;      // address of a Timespec, relative
}

/// <summary>struct io_uring_rsrc_register.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct ResourceRegistration
{
    internal const uint Sparse = 1;

    internal uint Count;
    internal uint Flags;
    internal ulong Reserved;
    internal ulong Data;
    internal ulong Tags;
}

/// <summary>struct io_uring_rsrc_update2.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct ResourceUpdate
{
    internal uint Offset;
    internal uint Reserved;
    internal ulong Data;
    internal ulong Tags;
    internal uint Count;
    internal uint Reserved2;
}

/// <summary>struct io_uring_files_update.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct FileUpdate
{
    internal uint Offset;
    internal uint Reserved;
    internal ulong Descriptors;
}

/// <summary>Numbers of the interface that are not structures.</summary>
internal static class RingAbi
{
    internal const int SetupCall = 425;
    internal const int EnterCall = 426;
    internal const int RegisterCall = 427;

    internal const uint EnterGetEvents = 1;
    internal const uint EnterExtendedArgument = 1 << 3;

    internal const uint SubmissionOverflow = 1 << 1;     // IORING_SQ_CQ_OVERFLOW
    internal const uint SubmissionTaskRun = 1 << 2;      // IORING_SQ_TASKRUN

    internal const long OffsetRings = 0;
    internal const long OffsetEntries = 0x10000000;

    internal const uint RegisterProbe = 8;
    internal const uint RegisterFilesUpdate = 6;
    internal const uint RegisterFiles2 = 13;
    internal const uint RegisterBuffers2 = 15;
    internal const uint RegisterBuffersUpdate = 16;
    internal const uint RegisterWorkerLimits = 19;       // IORING_REGISTER_IOWQ_MAX_WORKERS, Linux 5.15
}

using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Lanes.Uring;

// One io_uring, filled and drained from C#.
//
// The kernel and this thread share two rings of indexes and an array of submission entries. Barriers: the entries are
// written before the tail is published (release), the kernel's heads and tails are read with acquire. The submission
// array is the identity, written once, so publishing is one store.
//
// Invariants
//  1. One thread creates, fills, enters and drains the ring (IORING_SETUP_SINGLE_ISSUER says so to the kernel).
//  2. An entry between head and tail is the kernel's; TryAdd never touches it and fails when none is free.
//  3. No completion is lost: the kernel keeps what does not fit (IORING_FEAT_NODROP) and every enter fetches it.

/// <summary>A thin binding of io_uring: three system calls and two shared rings.</summary>
internal sealed unsafe class Ring : IDisposable
{
    private readonly int _descriptor;
    private readonly byte* _rings;
    private readonly nuint _ringsLength;
    private readonly SubmissionEntry* _entries;
    private readonly nuint _entriesLength;
    private readonly uint* _submissionHead;
    private readonly uint* _submissionTail;
    private readonly uint* _submissionFlags;
    private readonly uint _submissionMask;
    private readonly uint* _completionHead;
    private readonly uint* _completionTail;
    private readonly CompletionEntry* _completions;
    private readonly uint _completionMask;
    private uint _tail;       // entries written
    private uint _head;       // completions read
    private bool _disposed;

    private Ring(int descriptor, in RingParameters parameters)
    {
        _descriptor = descriptor;
        Features = parameters.Features;
        Setup = parameters.Flags;
        uint submissionLength = parameters.SubmissionArray + (parameters.SubmissionEntries * sizeof(uint));
        uint completionLength = parameters.CompletionArray + (parameters.CompletionEntries * (uint)sizeof(CompletionEntry));
        _ringsLength = Math.Max(submissionLength, completionLength);
        _rings = Map(_ringsLength, RingAbi.OffsetRings);
        _entriesLength = parameters.SubmissionEntries * (uint)sizeof(SubmissionEntry);
        _entries = (SubmissionEntry*)Map(_entriesLength, RingAbi.OffsetEntries);

        _submissionHead = (uint*)(_rings + parameters.SubmissionHead);
        _submissionTail = (uint*)(_rings + parameters.SubmissionTail);
        _submissionFlags = (uint*)(_rings + parameters.SubmissionFlags);
        _submissionMask = *(uint*)(_rings + parameters.SubmissionMask);
        _completionHead = (uint*)(_rings + parameters.CompletionHead);
        _completionTail = (uint*)(_rings + parameters.CompletionTail);
        _completionMask = *(uint*)(_rings + parameters.CompletionMask);
        _completions = (CompletionEntry*)(_rings + parameters.CompletionArray);
        FillSubmissionArray((uint*)(_rings + parameters.SubmissionArray));
    }

    /// <summary>Features that the kernel reports.</summary>
    internal RingFeatures Features { get; }

    /// <summary>Parameters with which the ring was set up.</summary>
    internal RingSetup Setup { get; }

    /// <summary>Entries written and not yet taken by the kernel.</summary>
    internal uint Unsubmitted => _tail - Volatile.Read(ref *_submissionHead);

    /// <summary>Whether a completion can be read without entering.</summary>
    internal bool HasCompletion => Volatile.Read(ref *_completionTail) != _head;

    /// <summary>Whether the kernel holds work or completions back until the next enter.</summary>
    internal bool MustEnter =>
        (Volatile.Read(ref *_submissionFlags) & (RingAbi.SubmissionOverflow | RingAbi.SubmissionTaskRun)) != 0;

    /// <summary>Sets a ring up; null with the errno when the kernel refuses.</summary>
    internal static Ring? TryCreate(uint entries, uint completions, RingSetup setup, out int errno)
    {
        RingParameters parameters = default;
        parameters.Flags = setup | RingSetup.CompletionQueueSize | RingSetup.Clamp;
        parameters.CompletionEntries = completions;
        nint descriptor = Libc.SystemCall(RingAbi.SetupCall, (nint)entries, (nint)(&parameters), 0, 0, 0, 0);
        errno = descriptor < 0 ? Libc.LastError() : 0;
        if (errno != 0)
        {
            return null;
        }

        try
        {
            return new Ring((int)descriptor, parameters);
        }
        catch (RingMapException failure)
        {
            errno = failure.Errno;
            Libc.Close((int)descriptor);
            return null;
        }
    }

    /// <summary>Copies an entry into the submission queue; false when it is full.</summary>
    internal bool TryAdd(in SubmissionEntry entry)
    {
        if (Unsubmitted > _submissionMask)
        {
            return false;
        }

        _entries[_tail & _submissionMask] = entry;
        _tail++;
        Volatile.Write(ref *_submissionTail, _tail);
        return true;
    }

    /// <summary>
    /// Submits what was added and waits until <paramref name="minimum"/> completions are there or
    /// <paramref name="timeoutNs"/> has passed (negative: no limit). Gives entries taken, or a negative errno.
    /// </summary>
    internal int Enter(uint minimum, long timeoutNs)
    {
        Timespec limit = timeoutNs < 0 ? default : Timespec.FromNanoseconds(timeoutNs);
        EnterArgument argument = new() { Timeout = timeoutNs < 0 ? 0 : (ulong)(&limit) };
        return Libc.CountOrError(Libc.SystemCall(
            RingAbi.EnterCall,
            _descriptor,
            (nint)Unsubmitted,
            (nint)minimum,
            (nint)(RingAbi.EnterGetEvents | RingAbi.EnterExtendedArgument),
            (nint)(&argument),
            sizeof(EnterArgument)));
    }

    /// <summary>Takes the oldest completion.</summary>
    internal bool TryTake(out CompletionEntry completion)
    {
        if (!HasCompletion)
        {
            completion = default;
            return false;
        }

        completion = _completions[_head & _completionMask];
        _head++;
        Volatile.Write(ref *_completionHead, _head);
        return true;
    }

    /// <summary>A register call: its answer, or a negative errno.</summary>
    /// <summary>
    /// Limits the kernel's threads that make blocking calls for the ring. The kernel's own limit is four for each processor: so many disks that hang in a
    /// flush would hold up those of all others.
    /// </summary>
    /// <param name="most">Threads for files and disks, and as many for everything else; 0: as it is.</param>
    /// <returns>The limits before; zeros where the kernel cannot tell (before Linux 5.15).</returns>
    internal (uint Disks, uint Others) LimitWorkers(uint most)
    {
        uint* limits = stackalloc uint[] { most, most };
        return Register(RingAbi.RegisterWorkerLimits, limits, 2) >= 0 ? (limits[0], limits[1]) : default;
    }

    internal int Register(uint operation, void* argument, uint count) =>
        Libc.CountOrError(Libc.SystemCall(RingAbi.RegisterCall, _descriptor, (nint)operation, (nint)argument, (nint)count, 0, 0));

    public void Dispose()
    {
        if (_disposed)
        {
            return;
        }

        _disposed = true;
        Libc.Unmap(_entries, _entriesLength);
        Libc.Unmap(_rings, _ringsLength);
        Libc.Close(_descriptor);
    }

    private byte* Map(nuint length, long offset)
    {
        void* memory = Libc.Map(
            null, length, Libc.ProtectionReadWrite, Libc.MapShared | Libc.MapPopulate, _descriptor, offset);
        return Libc.MapFailed(memory) ? throw new RingMapException(Libc.LastError()) : (byte*)memory;
    }

    private void FillSubmissionArray(uint* array)
    {
        for (uint index = 0; index <= _submissionMask; index++)
        {
            array[index] = index;
        }
    }

    private sealed class RingMapException(int errno) : Exception
    {
        internal int Errno { get; } = errno;
    }
}

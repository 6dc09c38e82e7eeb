using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Lanes;

/// <summary>File operations as plain blocking system calls: what the worker threads run.</summary>
internal static unsafe class FileCalls
{
    /// <summary>Result of a status operation, and of what it ends: the file has no name any more, or is shorter than it was. No errno.</summary>
    internal const int Gone = -4096;

    /// <summary>Result of an operation that may not be begun at the moment and was not. No errno.</summary>
    internal const int Held = -4097;

    /// <summary>Does one operation; a count, a negative errno, <see cref="Gone"/> or <see cref="Held"/>. Interrupted calls are repeated.</summary>
    internal static int Run(in FileOperation operation)
    {
        if (operation.Opcode is FileOpcode.Allocate or FileOpcode.Discard or FileOpcode.ZeroOut
            && operation.File.Guard?.Condition?.Look() is { } permission and not CallPermission.Now)
        {
            return permission == CallPermission.Later ? Held : -Errno.EIO;
        }

        int result;
        do
        {
            result = RunOnce(operation);
        }
        while (result == -Errno.EINTR);
        return result;
    }

    /// <summary>Whether a test has ordered a fault for this operation, which the kernel's ring would not meet.</summary>
    internal static bool HasFault(in FileOperation operation) => CallFaults.Concerns(
        operation.Opcode switch
        {
            FileOpcode.Read => "read",
            FileOpcode.Write => "write",
            FileOpcode.Sync => "sync",
            FileOpcode.Allocate => "allocate",
            FileOpcode.Status => "stat",
            _ => "control",
        },
        operation.File.Descriptor);

    /// <summary>pread with RWF_* flags.</summary>
    internal static int Read(int descriptor, void* buffer, nuint length, long offset, int flags)
    {
        if (flags == 0)
        {
            return Libc.CountOrError(Libc.ReadAt(descriptor, buffer, length, offset));
        }

        IoVector vector = new() { Base = (byte*)buffer, Length = length };
        return ReadVectors(descriptor, &vector, 1, length, offset, flags);
    }

    /// <summary>preadv with RWF_* flags.</summary>
    internal static int ReadVectors(int descriptor, IoVector* vectors, int count, nuint length, long offset, int flags) =>
        Libc.CountOrError(Libc.ReadVectorsAt(descriptor, vectors, count, length, offset, flags));

    /// <summary>pwrite with RWF_* flags.</summary>
    internal static int Write(int descriptor, void* buffer, nuint length, long offset, int flags)
    {
        if (flags == 0)
        {
            return Libc.CountOrError(Libc.WriteAt(descriptor, buffer, length, offset));
        }

        IoVector vector = new() { Base = (byte*)buffer, Length = length };
        return WriteVectors(descriptor, &vector, 1, length, offset, flags);
    }

    /// <summary>pwritev with RWF_* flags.</summary>
    internal static int WriteVectors(int descriptor, IoVector* vectors, int count, nuint length, long offset, int flags) =>
        Libc.CountOrError(Libc.WriteVectorsAt(descriptor, vectors, count, length, offset, flags));

    private static int RunOnce(in FileOperation operation)
    {
        int descriptor = operation.File.Descriptor;
        void* buffer = (void*)operation.Buffer;
        return operation.Opcode switch
        {
            FileOpcode.Read when operation.Vectors > 0 =>
                ReadVectors(descriptor, (IoVector*)buffer, operation.Vectors, (nuint)operation.Length, operation.Offset, operation.Flags),
            FileOpcode.Write when operation.Vectors > 0 =>
                WriteVectors(descriptor, (IoVector*)buffer, operation.Vectors, (nuint)operation.Length, operation.Offset, operation.Flags),
            FileOpcode.Read => Read(descriptor, buffer, (nuint)operation.Length, operation.Offset, operation.Flags),
            FileOpcode.Write => Write(descriptor, buffer, (nuint)operation.Length, operation.Offset, operation.Flags),
            FileOpcode.Sync => Sync(operation.File),
            FileOpcode.Status => Status(descriptor, operation.Length),
            FileOpcode.Allocate => Libc.CountOrError(
                Libc.Allocate(descriptor, operation.Flags, operation.Offset, operation.Length)),
            FileOpcode.Discard => RangeControl(descriptor, Libc.BlockDiscard, operation),
            FileOpcode.ZeroOut => RangeControl(descriptor, Libc.BlockZeroOut, operation),
            FileOpcode.Close => Close(descriptor, releasesLock: operation.Flags != 0),
            FileOpcode.Call => ((BlockingCall)operation.File).Run(),
            _ => -Errno.EINVAL,
        };
    }

    private static int Sync(LaneFile file)
    {
        int result = Libc.CountOrError(Libc.SyncData(file.Descriptor));
        return result < 0 || file.WatchedSize == 0 ? result : Status(file.Descriptor, file.WatchedSize);
    }

    private static int Status(int descriptor, long size)
    {
        int result = Libc.StatusOf(descriptor, out FileStatus status);
        return result == -Errno.EINTR || (result == 0 && status.LinkCount > 0 && status.Size >= size) ? result : Gone;
    }

    /// <summary>Closes a descriptor. The result is ignored: the descriptor is closed in any case, and a second close might close another's.</summary>
    private static int Close(int descriptor, bool releasesLock)
    {
        if (releasesLock)
        {
            _ = Libc.Lock(descriptor, Libc.LockRelease);   // now, also where the kernel holds the file for longer
        }

        _ = Libc.Close(descriptor);
        return 0;
    }

    private static int RangeControl(int descriptor, nuint request, in FileOperation operation)
    {
        ulong* range = stackalloc ulong[2] { (ulong)operation.Offset, (ulong)operation.Length };
        return Libc.CountOrError(Libc.Control(descriptor, request, range));
    }
}

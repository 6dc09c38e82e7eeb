using System.Runtime.InteropServices;

namespace TierSpaces.Engine.Lanes.Native;

internal static unsafe partial class Libc
{
    [DllImport(Library, EntryPoint = "open")]
    private static extern int Open(byte* path, int flags, uint mode);

    [DllImport(Library, EntryPoint = "openat")]
    private static extern int OpenAt(int folder, byte* path, int flags, uint mode);

    [DllImport(Library, EntryPoint = "unlinkat")]
    private static extern int UnlinkAt(int folder, byte* path, int flags);

    [DllImport(Library, EntryPoint = "renameat")]
    private static extern int RenameAt(int fromFolder, byte* from, int toFolder, byte* to);

    [DllImport(Library, EntryPoint = "mkdir")]
    private static extern int MakeFolder(byte* path, uint mode);

    [DllImport(Library, EntryPoint = "geteuid")]
    internal static extern uint EffectiveUser();

    [DllImport(Library, EntryPoint = "statx")]
    private static extern int StatX(int folder, byte* path, int flags, uint mask, FileStatus* status);

    [DllImport(Library, EntryPoint = "fstatfs")]
    internal static extern int FileSystem(int descriptor, FileSystemStatus* status);

    [DllImport(Library, EntryPoint = "pread")]
    private static extern nint PositionedRead(int descriptor, void* buffer, nuint length, long offset);

    [DllImport(Library, EntryPoint = "pwrite")]
    private static extern nint PositionedWrite(int descriptor, void* buffer, nuint length, long offset);

    [DllImport(Library, EntryPoint = "preadv2")]
    private static extern nint PositionedReadVector(int descriptor, IoVector* vectors, int count, long offset, int flags);

    [DllImport(Library, EntryPoint = "pwritev2")]
    private static extern nint PositionedWriteVector(int descriptor, IoVector* vectors, int count, long offset, int flags);

    [DllImport(Library, EntryPoint = "fdatasync")]
    private static extern int DataSync(int descriptor);

    [DllImport(Library, EntryPoint = "fsync")]
    private static extern int FullSync(int descriptor);

    [DllImport(Library, EntryPoint = "fallocate")]
    private static extern int AllocateRange(int descriptor, int mode, long offset, long length);

    [DllImport(Library, EntryPoint = "ftruncate")]
    private static extern int SetLength(int descriptor, long length);

    [DllImport(Library, EntryPoint = "lseek")]
    internal static extern long Seek(int descriptor, long offset, int whence);

    [DllImport(Library, EntryPoint = "flock")]
    internal static extern int Lock(int descriptor, int operation);

    [DllImport(Library, EntryPoint = "ioctl")]
    private static extern int DeviceControl(int descriptor, nuint request, void* argument);

    [DllImport(Library, EntryPoint = "fcntl")]
    internal static extern int FileControl(int descriptor, int command, nint argument);

    [DllImport(Library, EntryPoint = "unlink")]
    private static extern int Unlink(byte* path);

    [DllImport(Library, EntryPoint = "fchmod")]
    internal static extern int ChangeMode(int descriptor, uint mode);

    internal const int OpenReadOnly = 0;
    internal const int OpenReadWrite = 2;
    internal const int OpenCreate = 0x40;
    internal const int OpenExclusive = 0x80;
    internal const int OpenAppend = 0x400;
    internal const int OpenCloseOnExec = 0x80000;
    internal const int OpenNonblocking = 0x800;
    internal const int OpenNameOnly = 0x200000;
    internal static readonly int OpenDirect = IsArm64 ? 0x10000 : 0x4000;
    internal static readonly int OpenFolder = IsArm64 ? 0x4000 : 0x10000;
    internal static readonly int OpenNoFollow = IsArm64 ? 0x8000 : 0x20000;

    internal const uint OwnerOnly = 0x180;   // permissions 0600

    internal const int GetFlags = 3;         // F_GETFL
    internal const int SetFlags = 4;         // F_SETFL
    internal const int DuplicateCloseOnExec = 1030;   // F_DUPFD_CLOEXEC
    internal const int RwDataSync = 2;       // RWF_DSYNC
    internal const int RwNoWait = 8;         // RWF_NOWAIT
    internal const int SeekData = 3;
    internal const int SeekHole = 4;
    internal const int LockShared = 1;
    internal const int LockExclusive = 2;
    internal const int LockNonblocking = 4;
    internal const int LockRelease = 8;
    internal const int AllocateKeepSize = 1;
    internal const int AllocatePunchHole = 2;
    internal const int AllocateZeroRange = 16;
    private const int CurrentFolder = -100;
    private const int EmptyPath = 0x1000;
    private const int NoFollow = 0x100;
    private const int DoNotSynchronize = 0x4000;

    internal const nuint LoopGetStatus64 = 0x4c05;           // LOOP_GET_STATUS64
    internal const nuint BlockGetSize64 = 0x80081272;        // BLKGETSIZE64
    internal const nuint BlockGetLogicalSector = 0x1268;     // BLKSSZGET
    internal const nuint BlockDiscard = 0x1277;              // BLKDISCARD
    internal const nuint BlockZeroOut = 0x127f;              // BLKZEROOUT

    /// <summary>pread: a count, or -1 with the errno in <see cref="LastError"/>.</summary>
    internal static nint ReadAt(int descriptor, void* buffer, nuint length, long offset) =>
        CallFaults.IsOn && CallFaults.Fails("read", descriptor, ref length) ? -1 : PositionedRead(descriptor, buffer, length, offset);

    /// <summary>pwrite: as <see cref="ReadAt"/>.</summary>
    internal static nint WriteAt(int descriptor, void* buffer, nuint length, long offset) =>
        CallFaults.IsOn && CallFaults.Fails("write", descriptor, ref length) ? -1 : PositionedWrite(descriptor, buffer, length, offset);

    /// <summary>preadv2 of so many bytes.</summary>
    internal static nint ReadVectorsAt(int descriptor, IoVector* vectors, int count, nuint length, long offset, int flags) =>
        CallFaults.IsOn && FailsVectors("read", descriptor, vectors, ref count, length) ? -1
        : PositionedReadVector(descriptor, vectors, count, offset, flags);

    /// <summary>pwritev2 of so many bytes.</summary>
    internal static nint WriteVectorsAt(int descriptor, IoVector* vectors, int count, nuint length, long offset, int flags) =>
        CallFaults.IsOn && FailsVectors("write", descriptor, vectors, ref count, length) ? -1
        : PositionedWriteVector(descriptor, vectors, count, offset, flags);

    private static bool FailsVectors(string call, int descriptor, IoVector* vectors, ref int count, nuint length)
    {
        nuint allowed = length;
        bool fails = CallFaults.Fails(call, descriptor, ref allowed);
        if (allowed < length)
        {
            count = 0;
            for (nuint left = allowed; left > 0; count++)
            {
                vectors[count].Length = nuint.Min(vectors[count].Length, left);
                left -= vectors[count].Length;
            }
        }

        return fails;
    }

    /// <summary>fdatasync.</summary>
    internal static int SyncData(int descriptor) => CallFaults.IsOn && CallFaults.Fails("sync", descriptor) ? -1 : DataSync(descriptor);

    /// <summary>fsync.</summary>
    internal static int Sync(int descriptor) => CallFaults.IsOn && CallFaults.Fails("sync", descriptor) ? -1 : FullSync(descriptor);

    /// <summary>fallocate.</summary>
    internal static int Allocate(int descriptor, int mode, long offset, long length) =>
        CallFaults.IsOn && CallFaults.Fails("allocate", descriptor) ? -1 : AllocateRange(descriptor, mode, offset, length);

    /// <summary>ftruncate.</summary>
    internal static int Truncate(int descriptor, long length) =>
        CallFaults.IsOn && CallFaults.Fails("truncate", descriptor) ? -1 : SetLength(descriptor, length);

    /// <summary>ioctl.</summary>
    internal static int Control(int descriptor, nuint request, void* argument) =>
        CallFaults.IsOn && CallFaults.Fails("control", descriptor) ? -1 : DeviceControl(descriptor, request, argument);

    /// <summary>Opens a path; a descriptor or a negative errno. Interrupted opens are repeated.</summary>
    internal static int OpenPath(string path, int flags, uint mode = 0)
    {
        fixed (byte* text = PathBytes(path))
        {
            int result;
            do
            {
                result = CountOrError(CallFaults.IsOn && CallFaults.Fails("open", text) ? -1 : Open(text, flags | OpenCloseOnExec, mode));
            }
            while (result == -Errno.EINTR);
            return result;
        }
    }

    /// <summary>Opens a name relative to an open folder; a descriptor or a negative errno. Interrupted opens are repeated.</summary>
    internal static int OpenAt(int folder, string name, int flags, uint mode)
    {
        fixed (byte* text = PathBytes(name))
        {
            int result;
            do
            {
                result = CountOrError(CallFaults.IsOn && CallFaults.Fails("open", text) ? -1 : OpenAt(folder, text, flags | OpenCloseOnExec, mode));
            }
            while (result == -Errno.EINTR);
            return result;
        }
    }

    /// <summary>Creates a folder: 0 or a negative errno.</summary>
    internal static int MakeFolder(string path, uint mode)
    {
        fixed (byte* text = PathBytes(path))
        {
            return CountOrError(MakeFolder(text, mode));
        }
    }

    /// <summary>Renames within an open folder, over what is there: 0 or a negative errno.</summary>
    internal static int RenameAt(int folder, string from, string to)
    {
        fixed (byte* source = PathBytes(from))
        fixed (byte* target = PathBytes(to))
        {
            return CountOrError(CallFaults.IsOn && CallFaults.Fails("rename", target) ? -1 : RenameAt(folder, source, folder, target));
        }
    }

    /// <summary>Removes a name of an open folder: 0 or a negative errno.</summary>
    internal static int UnlinkAt(int folder, string name)
    {
        fixed (byte* text = PathBytes(name))
        {
            return CountOrError(CallFaults.IsOn && CallFaults.Fails("unlink", text) ? -1 : UnlinkAt(folder, text, 0));
        }
    }

    /// <summary>Status of an open file: 0 or a negative errno.</summary>
    internal static int StatusOf(int descriptor, out FileStatus status)
    {
        byte empty = 0;
        fixed (FileStatus* target = &status)
        {
            return CountOrError(CallFaults.IsOn && CallFaults.Fails("stat", descriptor) ? -1
                : StatX(descriptor, &empty, EmptyPath, FileStatus.BasicMask | FileStatus.MountMask | FileStatus.DirectIoMask, target));
        }
    }

    /// <summary>
    /// Size and link count of an open file as the kernel knows them (AT_STATX_DONT_SYNC): 0 or a negative errno. On ext4, XFS, Btrfs and tmpfs this reads
    /// memory and waits for nothing.
    /// </summary>
    internal static int KnownStatusOf(int descriptor, out FileStatus status)
    {
        byte empty = 0;
        fixed (FileStatus* target = &status)
        {
            return CountOrError(CallFaults.IsOn && CallFaults.Fails("stat", descriptor) ? -1
                : StatX(descriptor, &empty, EmptyPath | DoNotSynchronize, FileStatus.PresenceMask, target));
        }
    }

    /// <summary>Status of a path, a symbolic link itself when it is one: 0 or a negative errno.</summary>
    internal static int StatusOfPath(string path, bool follow, out FileStatus status)
    {
        fixed (byte* text = PathBytes(path))
        fixed (FileStatus* target = &status)
        {
            return CountOrError(CallFaults.IsOn && CallFaults.Fails("stat", text) ? -1
                : StatX(CurrentFolder, text, follow ? 0 : NoFollow, FileStatus.BasicMask | FileStatus.MountMask, target));
        }
    }

    /// <summary>Removes a name: 0 or a negative errno.</summary>
    internal static int UnlinkPath(string path)
    {
        fixed (byte* text = PathBytes(path))
        {
            return CountOrError(CallFaults.IsOn && CallFaults.Fails("unlink", text) ? -1 : Unlink(text));
        }
    }

    /// <summary>Makes the names in a folder durable: 0 or a negative errno.</summary>
    internal static int SyncFolder(string folder)
    {
        int descriptor = OpenPath(folder, OpenReadOnly | OpenFolder);
        if (descriptor < 0)
        {
            return descriptor;
        }

        int result = CountOrError(Sync(descriptor));
        Close(descriptor);
        return result;
    }
}

using System.Runtime.InteropServices;

namespace TierSpaces.Engine.Lanes.Native;

// Kernel and C library structures, as x86-64 and arm64 Linux lay them out.

[StructLayout(LayoutKind.Sequential)]
internal unsafe struct IoVector
{
    internal byte* Base;
    internal nuint Length;
}

[StructLayout(LayoutKind.Sequential)]
internal struct Timespec
{
    internal long Seconds;
    internal long Nanoseconds;

    internal static Timespec FromNanoseconds(long value) =>
        new() { Seconds = value / 1_000_000_000, Nanoseconds = value % 1_000_000_000 };
}

[StructLayout(LayoutKind.Sequential)]
internal unsafe struct MessageHeader
{
    internal void* Name;
    internal uint NameLength;
    internal IoVector* Vectors;
    internal nuint VectorCount;
    internal void* Control;
    internal nuint ControlLength;
    internal int Flags;
}

[StructLayout(LayoutKind.Sequential)]
internal struct PolledDescriptor
{
    internal int Descriptor;
    internal short Events;
    internal short Returned;
}

[StructLayout(LayoutKind.Explicit, Size = 256)]
internal struct FileStatus
{
    internal const uint BasicMask = 0x7ff;
    internal const uint PresenceMask = 0x204;            // STATX_NLINK, STATX_SIZE
    internal const uint MountMask = 0x1000;
    internal const uint DirectIoMask = 0x2000;

    [FieldOffset(0)] internal uint Mask;
    [FieldOffset(16)] internal uint LinkCount;
    [FieldOffset(20)] internal uint UserId;
    [FieldOffset(28)] internal ushort Mode;
    [FieldOffset(32)] internal ulong Inode;
    [FieldOffset(40)] internal long Size;
    [FieldOffset(48)] internal long Blocks;
    [FieldOffset(128)] internal uint DeviceMajor;        // of the device that this node represents
    [FieldOffset(132)] internal uint DeviceMinor;
    [FieldOffset(136)] internal uint ContainerMajor;     // of the device that holds the file
    [FieldOffset(140)] internal uint ContainerMinor;
    [FieldOffset(144)] internal ulong Mount;             // number of the mount
    [FieldOffset(152)] internal uint DirectIoMemoryAlignment;
    [FieldOffset(156)] internal uint DirectIoOffsetAlignment;

    /// <summary>The device that a file is on; a block device is on itself.</summary>
    internal readonly (uint Major, uint Minor) Volume => IsBlockDevice ? (DeviceMajor, DeviceMinor) : (ContainerMajor, ContainerMinor);

    internal readonly bool IsRegularFile => (Mode & 0xf000) == 0x8000;

    internal readonly bool IsFolder => (Mode & 0xf000) == 0x4000;

    internal readonly bool IsBlockDevice => (Mode & 0xf000) == 0x6000;

    internal readonly bool IsSocket => (Mode & 0xf000) == 0xc000;
}

/// <summary>The head of struct statfs: only its first word is read.</summary>
[StructLayout(LayoutKind.Explicit, Size = 120)]
internal struct FileSystemStatus
{
    internal const long Tmpfs = 0x01021994;
    internal const long Ramfs = 0x858458f6;
    internal const long Ext4 = 0xef53;
    internal const long Xfs = 0x58465342;
    internal const long Btrfs = 0x9123683e;

    [FieldOffset(0)] internal long Type;
    [FieldOffset(8)] internal long BlockSize;
    [FieldOffset(16)] internal long Blocks;
    [FieldOffset(24)] internal long BlocksFree;
    [FieldOffset(32)] internal long BlocksAvailable;
}

/// <summary>struct ucred: who is at the other end of a Unix socket.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct PeerCredentials
{
    internal int ProcessId;
    internal uint UserId;
    internal uint GroupId;

    /// <summary>Whether it is root or the user of this process.</summary>
    internal readonly bool IsRootOrOwnUser => UserId == 0 || UserId == Libc.EffectiveUser();
}

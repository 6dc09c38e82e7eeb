namespace TierSpaces.Engine.Devices.Identity;

/// <summary>Properties of a block device that is not open, as the system reports them.</summary>
/// <param name="Name">Kernel name, such as <c>sdb</c>.</param>
/// <param name="Identity">Its properties as a disk. URI, device and size, which only an open device has, are empty.</param>
internal sealed record BlockDeviceFacts(string Name, DiskIdentity Identity)
{
    /// <summary>SpindleSpeed of a disk that rotates at an unreported rate, as in Windows.</summary>
    internal const uint UnknownSpindleSpeed = uint.MaxValue;

    /// <summary>The part of the disk that a partition is; empty for a whole disk. <see cref="DiskIdentity.Hardware"/> names the whole disk.</summary>
    internal string Range { get; init; } = "";
}

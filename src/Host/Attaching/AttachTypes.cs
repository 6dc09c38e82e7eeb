namespace TierSpaces.Host.Attaching;

/// <summary>Export to attach: one of a server that answers already.</summary>
/// <param name="UniqueId">Identifier of the virtual disk; names its folder and record.</param>
/// <param name="FriendlyName">Name of the virtual disk; names its device link.</param>
/// <param name="Socket">Unix socket of the server.</param>
/// <param name="ExportName">Name of the export.</param>
/// <param name="LogicalSectorSize">512 or 4096 bytes.</param>
/// <param name="IsReadOnly">Whether the disk takes no writes.</param>
internal sealed record AttachTarget(
    string UniqueId, string FriendlyName, string Socket, string ExportName, int LogicalSectorSize, bool IsReadOnly = false);

/// <summary>A process, told apart from a later one that was given the same number.</summary>
/// <param name="Id">Its number.</param>
/// <param name="StartTime">Time at which it started, in the kernel's ticks since boot.</param>
internal sealed record ProcessMark(int Id, long StartTime);

/// <summary>Record of the attachment of a disk: enough to find it again and to undo it, in any later process.</summary>
internal sealed record AttachRecord
{
    /// <summary>Identifier of the virtual disk.</summary>
    public required string UniqueId { get; init; }

    /// <summary>Name that its link carries.</summary>
    public required string FriendlyName { get; init; }

    /// <summary>
    /// Name by which the device asks for its export; empty in records of versions that asked for the friendly name, and so keep the disk from being
    /// renamed.
    /// </summary>
    public string ExportName { get; init; } = "";

    /// <summary>Name of the attacher that made it.</summary>
    public required string Method { get; init; }

    /// <summary>Block device, for example <c>/dev/loop3</c>.</summary>
    public required string Device { get; init; }

    /// <summary>The kernel's number of this use of the device (<see cref="BlockDevice.UseOf"/>); empty when it has none.</summary>
    public string Use { get; init; } = "";

    /// <summary>
    /// Identity of the start of the machine at which the device was made; empty in records of versions that did not note it. Names and numbers of
    /// devices begin again with each start.
    /// </summary>
    public string Boot { get; init; } = "";

    /// <summary>Folder with sockets and mount point, or empty.</summary>
    public string Folder { get; init; } = "";

    /// <summary>Reasons why methods before this one were not taken; empty if there are none.</summary>
    public string Reason { get; init; } = "";

    /// <summary>Name of the file below a loop device that the host itself serves; empty for other devices.</summary>
    public string FileName { get; init; } = "";

    /// <summary>Processes that carry it, the one nearest to the device first.</summary>
    public ProcessMark[] Processes { get; init; } = [];
}

/// <summary>Method and device by which a disk is attached now.</summary>
/// <param name="Method">KernelNbd, Fuse, NbdFuse or NbdUri.</param>
/// <param name="DevicePath">Stable link to the block device; null where only the URI is served.</param>
/// <param name="Reason">Reason why there is no block device, or why a method before this one was not taken; null when there is none.</param>
/// <param name="HasFailed">Whether there is no block device although a method could be used here: it failed, and may work later.</param>
internal sealed record AttachOutcome(string Method, string? DevicePath, string? Reason, bool HasFailed = false);

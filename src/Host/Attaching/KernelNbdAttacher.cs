using System.Globalization;
using TierSpaces.Host.Attaching.Kernel;

namespace TierSpaces.Host.Attaching;

/// <summary>
/// Attaches with the kernel's own NBD driver, without a process in between. This class opens the connection and hands it to the
/// kernel. The device belongs to the kernel and outlives the host. The next host connects it again
/// (<see cref="LinkKeeper"/>); until then the file system above it waits (<see cref="KernelNbd"/> says how long).
/// </summary>
internal sealed class KernelNbdAttacher(IKernelNbd kernel) : IAttacher
{
    private const string DevicePrefix = "/dev/nbd";
    private readonly LinkKeeper _keeper = new(kernel);

    /// <inheritdoc/>
    public string Method => "KernelNbd";

    /// <inheritdoc/>
    public string Patience => string.Create(CultureInfo.InvariantCulture, $"for {KernelNbd.PatienceSeconds} s");

    /// <inheritdoc/>
    public string? Obstacle() => kernel.Obstacle();

    /// <inheritdoc/>
    public AttachRecord Attach(AttachTarget target, string folder)
    {
        int device = kernel.Find(target.UniqueId) is { } left ? TakeOver(left, target) : Make(target);
        return new AttachRecord
        {
            UniqueId = target.UniqueId, FriendlyName = target.FriendlyName, ExportName = target.ExportName, Method = Method, Folder = folder,
            Device = string.Create(CultureInfo.InvariantCulture, $"{DevicePrefix}{device}"), Use = kernel.UseOf(device),
        };
    }

    /// <inheritdoc/>
    public bool IsIntact(AttachRecord record) => record.Use.Length > 0 && kernel.UseOf(NumberOf(record)) == record.Use;

    /// <inheritdoc/>
    public void Resume(AttachRecord record, AttachTarget target) => _keeper.TakeOver(NumberOf(record), target);

    /// <inheritdoc/>
    public void Detach(AttachRecord record)
    {
        _keeper.Forget(NumberOf(record));
        if (IsIntact(record))
        {
            kernel.Disconnect(NumberOf(record));
        }
    }

    private int Make(AttachTarget target)
    {
        using ExportConnection export = ExportConnection.Open(target.Socket, target.ExportName);
        int device = kernel.Connect(export, target.LogicalSectorSize, target.UniqueId);
        try
        {
            _keeper.Keep(device, target);
            return device;
        }
        catch (AttachException)
        {
            kernel.Disconnect(device);
            throw;
        }
    }

    /// <summary>A host that died between making a device and remembering it has left one.</summary>
    private int TakeOver(int device, AttachTarget target)
    {
        _keeper.TakeOver(device, target);
        return device;
    }

    private static int NumberOf(AttachRecord record) =>
        int.Parse(record.Device.AsSpan(DevicePrefix.Length), CultureInfo.InvariantCulture);
}

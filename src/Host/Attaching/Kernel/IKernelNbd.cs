namespace TierSpaces.Host.Attaching.Kernel;

/// <summary>
/// The kernel's NBD driver, as far as devices are made and kept with it. A device is the N of <c>/dev/nbdN</c>.
/// </summary>
internal interface IKernelNbd
{
    /// <summary>Returns the reason why the driver cannot be used, with the remedy; null when it can.</summary>
    string? Obstacle();

    /// <summary>Makes a device of an export and gives the connection to the kernel.</summary>
    /// <param name="export">A connection on which nothing has been asked yet; still ours to close.</param>
    /// <param name="sectorSize">512 or 4096 bytes.</param>
    /// <param name="owner">Tells the device apart from those of others.</param>
    /// <exception cref="AttachException">It did not work; nothing is left behind.</exception>
    int Connect(ExportConnection export, int sectorSize, string owner);

    /// <summary>
    /// Gives a device another connection in place of one that has died; what was asked and not answered is asked again on it.
    /// Does nothing while the old one lives.
    /// </summary>
    /// <exception cref="AttachException">The device is not there or is not that owner's.</exception>
    void Reconnect(int device, ExportConnection export, string owner);

    /// <summary>Takes a device away; what waits for it fails. A device that is not there is none.</summary>
    void Disconnect(int device);

    /// <summary>Returns a mark that distinguishes one use of a device from the next; empty when it is not in use.</summary>
    string UseOf(int device);

    /// <summary>
    /// A device of that owner that is in use; null when there is none, or the kernel does not keep owners (before 5.14).
    /// </summary>
    int? Find(string owner);

    /// <summary>Starts listening for connections that die.</summary>
    /// <exception cref="AttachException">The kernel does not tell.</exception>
    IDeadLinks Listen();
}

/// <summary>The kernel's news of dead connections, from when it was made. For one thread.</summary>
internal interface IDeadLinks : IDisposable
{
    /// <summary>Devices whose connection has died; empty after a time without any; null when some news was lost.</summary>
    IReadOnlyList<int>? Next(TimeSpan patience);
}

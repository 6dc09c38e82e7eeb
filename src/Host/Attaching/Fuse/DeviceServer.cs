using TierSpaces.Engine.Exports.Fuse;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Attaching.Fuse;

/// <summary>The engine of this host, as attachers use it.</summary>
internal sealed class DeviceServer(StorageSubsystem subsystem) : IDeviceServer
{
    /// <inheritdoc/>
    public void Serve(Guid virtualDisk, FuseChannel channel)
    {
        try
        {
            subsystem.VirtualDisks.ServeDeviceAsync(virtualDisk, channel).GetAwaiter().GetResult();
        }
        catch (ManagementException problem)
        {
            throw new AttachException(problem.Message);
        }
    }

    /// <inheritdoc/>
    public void End(Guid virtualDisk) => subsystem.VirtualDisks.EndDeviceAsync(virtualDisk).GetAwaiter().GetResult();
}

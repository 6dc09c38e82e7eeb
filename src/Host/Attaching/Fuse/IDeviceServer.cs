using TierSpaces.Engine.Exports.Fuse;

namespace TierSpaces.Host.Attaching.Fuse;

/// <summary>The part of the engine that serves virtual disks to the kernel.</summary>
internal interface IDeviceServer
{
    /// <summary>Serves a connected virtual disk on a connection to the kernel, now and whenever it is opened again.</summary>
    /// <exception cref="AttachException">It cannot be served; nothing was changed.</exception>
    void Serve(Guid virtualDisk, FuseChannel channel);

    /// <summary>Serves it no longer, once what was asked for is answered.</summary>
    void End(Guid virtualDisk);
}

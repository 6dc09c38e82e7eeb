using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Engine;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Verbs;

/// <summary>What handlers over the engine share: its objects, and how requests name them.</summary>
/// <typeparam name="TRequest">The request record.</typeparam>
/// <typeparam name="TInfo">Kind of the objects it answers with.</typeparam>
internal abstract class EngineHandler<TRequest, TInfo>(HostServices services) : VerbHandler<TRequest, TInfo>
    where TRequest : StorageRequest<TInfo>
    where TInfo : class
{
    /// <summary>What the handlers of a host share.</summary>
    protected HostServices Services => services;

    /// <summary>Every verb over the engine.</summary>
    protected StorageSubsystem Engine => services.Engine.Subsystem;

    /// <summary>The pools, to be selected from.</summary>
    protected async Task<Selector<StoragePoolStatus>> PoolsAsync() => new(
        "MSFT_StoragePool", await Engine.PoolsAsync().ConfigureAwait(false), pool => ObjectMapping.Text(pool.UniqueId), pool => pool.Description.FriendlyName);

    /// <summary>The physical disks, to be selected from.</summary>
    protected async Task<Selector<PhysicalDiskStatus>> PhysicalDisksAsync() => new(
        "MSFT_PhysicalDisk", await Engine.PhysicalDisksAsync().ConfigureAwait(false), disk => ObjectMapping.Text(disk.UniqueId), disk => disk.FriendlyName);

    /// <summary>The virtual disks, to be selected from.</summary>
    protected async Task<Selector<VirtualDiskStatus>> VirtualDisksAsync() => new(
        "MSFT_VirtualDisk", await Engine.VirtualDisksAsync().ConfigureAwait(false), disk => ObjectMapping.Text(disk.Description.Id.Value), disk => disk.Description.FriendlyName);

    /// <summary>A virtual disk as an object, with how it is attached.</summary>
    protected VirtualDiskInfo ToInfo(VirtualDiskStatus disk)
    {
        var outcome = services.Attachments.OutcomeOf(ObjectMapping.Text(disk.Description.Id.Value));
        return ObjectMapping.ToInfo(disk, outcome?.DevicePath, outcome?.Method, outcome?.Reason);
    }

    /// <summary>Objects that a verb names by friendly name, unique identifier, name or as objects; all of them where it names none.</summary>
    protected static List<T> Select<T>(
        Selector<T> all, ReplyBuilder<TInfo> reply, string[]? friendlyName, string[]? uniqueId, string[]? name, string[]? objects)
        where T : class =>
        friendlyName is not null ? all.ByFriendlyName(friendlyName, reply.Fail)
        : uniqueId is not null ? all.ByUniqueId(uniqueId, reply.Fail)
        : name is not null ? all.By("Name", all.IdOf, name, reply.Fail)
        : objects is not null ? all.ByReference(objects, reply.Fail)
        : [.. all.All];

    /// <summary>A single text as a list.</summary>
    protected static string[]? One(string? text) => text is null ? null : [text];
}

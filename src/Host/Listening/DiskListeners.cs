using System.Collections.Concurrent;
using System.Net;
using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Listening;

// TCP addresses of virtual disks, beside their Unix sockets.
//
// At a loopback address the server of the disk listens itself, on the lane of the disk. With certificates a relay listens and passes on to the socket of the
// disk, so that TLS is no task of a lane.
//
// Invariants
//  1. The record of an address is durable before the address answers, and is removed when the disk has been disconnected.
//  2. No address that other machines reach answers without TLS: not after a restart either, whatever the record says.
//  3. An address serves one virtual disk, and ends with its export.

/// <summary>Lets connected virtual disks listen at TCP addresses, and remembers these.</summary>
internal sealed class DiskListeners(ListenStore store, StorageSubsystem subsystem, Func<Guid, string> socketOf) : IAsyncDisposable
{
    private readonly ConcurrentDictionary<string, Listening> _listening = [];

    /// <summary>Returns the URI at which a connected virtual disk is served over TCP; null: at none.</summary>
    public string? UriOf(string uniqueId, string friendlyName) => _listening.TryGetValue(uniqueId, out Listening? listening)
        ? ListenAddress.Uri(listening.Endpoint, listening.Relay is not null, friendlyName) : null;

    /// <summary>Returns the addresses of the clients of a virtual disk that have come through TLS: to its server they are this process.</summary>
    public IEnumerable<string> TlsClientsOf(string uniqueId) => _listening.GetValueOrDefault(uniqueId)?.Relay?.Clients ?? [];

    /// <summary>Returns what a command asks for, checked; null: it asks for no address.</summary>
    /// <exception cref="StorageException">
    /// The address is none or taken, other machines reach it without TLS, the certificates cannot be used, or the virtual disk listens at another address;
    /// nothing was changed.
    /// </exception>
    public ListenRecord? Check(VirtualDiskStatus disk, string? address, string? certificates)
    {
        string name = disk.Description.FriendlyName;
        if (address is null)
        {
            return certificates is null ? null : throw new StorageException(
                StorageErrors.InvalidParameter, "-TlsCertificatePath: there is no address to use it at.", "Give -ListenAddress as well.", name);
        }

        IPEndPoint endpoint = ListenAddress.Parse(address);
        ListenAddress.RequireTlsBeyondLoopback(endpoint, certificates, name);
        _ = certificates is null ? null : TlsCertificates.Read(certificates);
        ListenRecord asked = new()
        {
            UniqueId = Identifiers.OfVirtualDisk(disk.Description.Id.Value), Address = endpoint.ToString(), TlsCertificatePath = certificates,
        };
        if (!_listening.ContainsKey(asked.UniqueId))
        {
            TlsRelay.RequireFree(endpoint);
        }
        else if (store.Find(asked.UniqueId) is { } current && current != asked)
        {
            throw new StorageException(
                StorageErrors.VirtualDiskStateForbids, $"-ListenAddress {endpoint}: virtual disk '{name}' listens at {current.Address}"
                + $"{(current.TlsCertificatePath is { } folder ? $" with the certificates of {folder}" : "")}.", "Disconnect it first.", name);
        }

        return asked;
    }

    /// <summary>Lets a connected virtual disk listen at an address, now and after every restart, until <see cref="ForgetAsync"/>.</summary>
    /// <exception cref="StorageException">The address cannot be listened at; nothing was changed.</exception>
    /// <exception cref="ManagementException">The same.</exception>
    /// <exception cref="IOException">The record cannot be saved; nothing was changed.</exception>
    public async Task ListenAsync(VirtualDiskStatus disk, ListenRecord asked)
    {
        if (_listening.ContainsKey(asked.UniqueId))
        {
            return;
        }

        store.Put(asked);
        try
        {
            await StartAsync(disk, asked).ConfigureAwait(false);
        }
        catch
        {
            store.Remove(asked.UniqueId);
            throw;
        }
    }

    /// <summary>
    /// Lets a virtual disk that is served again listen at its address, if it has one. An address that is taken now is logged, and tried again at the next start
    /// and when the disk is connected again.
    /// </summary>
    public async Task RestoreAsync(VirtualDiskStatus disk)
    {
        string uniqueId = Identifiers.OfVirtualDisk(disk.Description.Id.Value);
        if (_listening.ContainsKey(uniqueId) || store.Find(uniqueId) is not { } record)
        {
            return;
        }

        try
        {
            ListenAddress.RequireTlsBeyondLoopback(ListenAddress.Parse(record.Address), record.TlsCertificatePath, disk.Description.FriendlyName);
            await StartAsync(disk, record).ConfigureAwait(false);
        }
        catch (Exception e) when (e is StorageException or ManagementException)
        {
            HostLog.Write($"virtual disk '{disk.Description.FriendlyName}' is not served at {record.Address}: {e.Message}");
        }
    }

    /// <summary>Closes the address of a virtual disk that is not connected any more, and forgets it.</summary>
    public async Task ForgetAsync(string uniqueId)
    {
        store.Remove(uniqueId);
        if (_listening.TryRemove(uniqueId, out Listening? listening) && listening.Relay is { } relay)
        {
            await relay.DisposeAsync().ConfigureAwait(false);
        }
    }

    /// <summary>Closes the addresses of relays; those of exports end with the exports.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (TlsRelay relay in _listening.Values.Select(static listening => listening.Relay).OfType<TlsRelay>())
        {
            await relay.DisposeAsync().ConfigureAwait(false);
        }
    }

    private async Task StartAsync(VirtualDiskStatus disk, ListenRecord record)
    {
        Guid id = disk.Description.Id.Value;
        IPEndPoint endpoint = ListenAddress.Parse(record.Address);
        TlsRelay? relay = null;
        if (record.TlsCertificatePath is { } certificates)
        {
            relay = TlsRelay.Start(endpoint, certificates, socketOf(id));
        }
        else
        {
            await subsystem.VirtualDisks.ListenAsync(id, endpoint).ConfigureAwait(false);
        }

        _listening[record.UniqueId] = new Listening(endpoint, relay);
    }

    /// <summary>An address in use; without a relay the server of the virtual disk listens there itself.</summary>
    private sealed record Listening(IPEndPoint Endpoint, TlsRelay? Relay);
}

using System.Diagnostics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.Hosts;

/// <summary>Users of a virtual disk: of its block device, and clients of its NBD export. The connections that make its block device are none.</summary>
/// <param name="Name">Friendly name of the virtual disk.</param>
/// <param name="Device">Use of its block device; null for none.</param>
/// <param name="Clients">Names of its NBD clients.</param>
internal sealed record DiskUsers(string Name, DeviceUse? Device, string[] Clients)
{
    private static readonly TimeSpan s_goingPatience = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_goingPeriod = TimeSpan.FromMilliseconds(20);

    /// <summary>The users in words.</summary>
    public string Text => $"Virtual disk '{Name}': {string.Join("; ", Device is null ? [ClientText] : Clients.Length == 0 ? [Device.Text] : [Device.Text, ClientText])}.";

    /// <summary>Effect on the clients when the host stops.</summary>
    public string WhatStopDoes => $"Virtual disk '{Name}': {ClientText} lost the connection and have to connect again.";

    private string ClientText => $"NBD clients: {string.Join(", ", Clients)}";

    /// <summary>Returns the virtual disks that are in use, by name.</summary>
    public static async Task<IReadOnlyList<DiskUsers>> ListAsync(HostServices services)
    {
        AttachRecord[] records = services.Attachments.Records();
        Dictionary<string, DiskUsers> found = [];
        foreach (AttachRecord record in records)
        {
            if (services.Attachments.UseOf(record) is { } use)
            {
                found[record.UniqueId] = new DiskUsers(record.FriendlyName, use, []);
            }
        }

        foreach ((VirtualDiskDescription disk, LanePeer[] peers) in await ClientsAsync(services).ConfigureAwait(false))
        {
            string id = Identifiers.OfVirtualDisk(disk.Id.Value);
            AttachRecord? record = records.FirstOrDefault(record => record.UniqueId == id);
            string[] others = NamesOf(services, id, peers, record);
            if (others.Length > 0)
            {
                found[id] = new DiskUsers(disk.FriendlyName, found.GetValueOrDefault(id)?.Device, others);
            }
        }

        return [.. found.Values.OrderBy(static disk => disk.Name, StringComparer.Ordinal)];
    }

    /// <summary>Returns the NBD clients of a virtual disk, in words. One that is going has a moment to be gone.</summary>
    public static async Task<string[]> ClientsOfAsync(HostServices services, Guid virtualDisk)
    {
        string id = Identifiers.OfVirtualDisk(virtualDisk);
        for (Stopwatch watch = Stopwatch.StartNew(); ;)
        {
            LanePeer[] peers = (await services.Subsystem.VirtualDisks.ListClientsAsync().ConfigureAwait(false)).GetValueOrDefault(virtualDisk) ?? [];
            string[] names = NamesOf(services, id, peers, services.Attachments.Records().FirstOrDefault(record => record.UniqueId == id));
            if (names.Length == 0 || watch.Elapsed > s_goingPatience)
            {
                return names;
            }

            await Task.Delay(s_goingPeriod).ConfigureAwait(false);
        }
    }

    private static string[] NamesOf(HostServices services, string id, LanePeer[] peers, AttachRecord? record) =>
    [
        .. peers.Where(peer => !IsOwn(peer, record)).Select(NameOf), .. services.Listeners.TlsClientsOf(id).Select(static address => $"tls:{address}"),
    ];

    private static async Task<List<(VirtualDiskDescription Disk, LanePeer[] Peers)>> ClientsAsync(HostServices services)
    {
        IReadOnlyDictionary<Guid, LanePeer[]> clients = await services.Subsystem.VirtualDisks.ListClientsAsync().ConfigureAwait(false);
        return clients.Count == 0 ? [] : (await Catalogue.ReadAsync(services).ConfigureAwait(false)).VirtualDiskNames.All
            .Where(disk => clients.ContainsKey(disk.Id.Value)).Select(disk => (disk, clients[disk.Id.Value])).ToList();
    }

    /// <summary>
    /// Whether a connection carries the block device of its virtual disk, or a client of the host's own TLS: the host makes the one of kernel NBD, other ways
    /// have processes.
    /// </summary>
    private static bool IsOwn(LanePeer peer, AttachRecord? record) =>
        peer.Process == Environment.ProcessId || record?.Processes.Any(process => process.Id == peer.Process) == true;

    private static string NameOf(LanePeer peer) => peer.Process == 0 ? peer.ToString() : BlockDeviceUsers.Describe(peer.Process);
}

using System.Collections.Concurrent;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Attaching;

/// <summary>
/// Attaches virtual disks that are served already, remembers how, and finds them again after a restart. It tries the attachers in
/// order; where none works the export's URI is all there is, and the outcome says why. Attaching and detaching are not safe for
/// concurrent calls: verbs that change state run one at a time. Outcomes may be read at any time.
/// </summary>
/// <param name="paths">Paths of the host.</param>
/// <param name="store">Records of attached disks.</param>
/// <param name="attachers">Ways to attach, in the order in which they are tried.</param>
/// <param name="commonLinks">Folder of the device links of all homes; null for none.</param>
internal sealed class AttachManager(HostPaths paths, AttachStore store, IReadOnlyList<IAttacher> attachers, string? commonLinks = null)
{
    private const string UriOnly = "NbdUri";
    private readonly DeviceLinks _links = new(paths.Devices, commonLinks);
    private readonly ConcurrentDictionary<string, AttachOutcome> _outcomes = [];

    /// <summary>Returns the method and device by which a disk is attached; null while it is not.</summary>
    public AttachOutcome? OutcomeOf(string uniqueId) => _outcomes.GetValueOrDefault(uniqueId);

    /// <summary>Unique identifier of the attached disk that a block device shows; null when it shows none.</summary>
    public string? DiskOn(string device) =>
        store.Read().FirstOrDefault(record => record.Device == device && _outcomes.ContainsKey(record.UniqueId))?.UniqueId;

    /// <summary>Returns the record of an attached disk whose device is still the one that was made for it; null otherwise.</summary>
    public AttachRecord? IntactRecordOf(string uniqueId) =>
        _outcomes.ContainsKey(uniqueId) && store.Read().FirstOrDefault(record => record.UniqueId == uniqueId) is { } record
        && attachers.FirstOrDefault(attacher => attacher.Method == record.Method)?.IsIntact(record) == true
            ? record
            : null;

    /// <summary>Whether attaching a disk again would leave it as it is: its device is intact, or none is to be made.</summary>
    /// <param name="uniqueId">The disk.</param>
    /// <param name="method">The method that is asked for; null: the one that was asked for when the disk was connected.</param>
    public bool IsSettled(string uniqueId, AttachMethod? method) => IntactRecordOf(uniqueId) is not null
        || (_outcomes.ContainsKey(uniqueId) && (method ?? store.MethodOf(uniqueId)) == AttachMethod.NbdUri);

    /// <summary>
    /// Attaches a disk whose export answers. After a restart of the host this finds the device that is still there and leaves it
    /// alone; remains of one that is not are cleared away first.
    /// </summary>
    /// <param name="target">Disk to attach.</param>
    /// <param name="method">
    /// The only method to try, for a disk that is not attached; null: the one that was asked for when the disk was connected, else the first that works.
    /// </param>
    public AttachOutcome Attach(AttachTarget target, AttachMethod? method = null)
    {
        AttachOutcome outcome = TryResume(target) ?? Make(target, method ?? store.MethodOf(target.UniqueId));
        _outcomes[target.UniqueId] = outcome;
        return outcome;
    }

    /// <summary>Notes the only method by which a disk is to be attached, also by later hosts; null for the first that works.</summary>
    public void SetMethod(string uniqueId, AttachMethod? method) => store.SetMethod(uniqueId, method);

    /// <summary>Refuses a method that cannot be used here, or another one than that by which a disk is attached.</summary>
    /// <exception cref="StorageException">It is one of these; nothing was changed.</exception>
    public void RequireMethod(string uniqueId, string friendlyName, AttachMethod method)
    {
        if (OutcomeOf(uniqueId) is { DevicePath: not null } outcome && outcome.Method != method.ToString())
        {
            throw new StorageException(
                StorageErrors.VirtualDiskStateForbids, $"-AttachMethod {method}: virtual disk '{friendlyName}' is attached by {outcome.Method}.",
                "Disconnect it first.", friendlyName);
        }

        if (attachers.FirstOrDefault(attacher => attacher.Method == method.ToString())?.Obstacle() is { } obstacle)
        {
            throw new StorageException(
                StorageErrors.NotSupported, $"-AttachMethod {method} cannot be used here: {obstacle}.",
                "Remove the obstacle, or leave the parameter out: the first method that works is taken.", friendlyName);
        }
    }

    /// <summary>Folder of the folders of attached disks.</summary>
    internal static string RootOf(string home) => Path.Combine(home, "att");

    /// <summary>Clears away what a killed host has left of devices that no record names.</summary>
    public void ClearRemains()
    {
        string root = RootOf(paths.Home);
        HashSet<string> known = [.. store.Read().Select(record => FolderOf(record.UniqueId))];
        foreach (string folder in Directory.Exists(root) ? Directory.GetDirectories(root).Where(folder => !known.Contains(folder)) : [])
        {
            AttachRemains.Clear(folder);
        }
    }

    /// <summary>Returns the records of the devices there are, attached disks and others.</summary>
    public AttachRecord[] Records() => store.Read();

    /// <summary>Returns the records of attached disks whose device is broken: a process, the connection or the device itself is gone.</summary>
    public AttachRecord[] Broken() => [.. store.Read().Where(record => _outcomes.ContainsKey(record.UniqueId)
        && attachers.FirstOrDefault(attacher => attacher.Method == record.Method)?.IsIntact(record) == false)];

    /// <summary>Returns the attached disks without a device because every method that can be used here failed: a later attempt may make one.</summary>
    public string[] Failed() => [.. _outcomes.Where(static outcome => outcome.Value.HasFailed).Select(static outcome => outcome.Key)];

    /// <summary>Returns the record of a device of an earlier host that is broken; null where it is whole, or there is none.</summary>
    public AttachRecord? BrokenRecordOf(string uniqueId) => store.Read().FirstOrDefault(record => record.UniqueId == uniqueId) is { } record
        && attachers.FirstOrDefault(attacher => attacher.Method == record.Method)?.IsIntact(record) != true
            ? record
            : null;

    /// <summary>Whether requests of a device are answered now. One that does not answer is not to be opened: that may take until it does.</summary>
    public bool Answers(AttachRecord record) =>
        _outcomes.ContainsKey(record.UniqueId) && attachers.FirstOrDefault(attacher => attacher.Method == record.Method)?.Answers(record) == true;

    /// <summary>Returns the use of a device; null when nothing uses it.</summary>
    public DeviceUse? UseOf(AttachRecord record) => DeviceUse.Of(record.Device, Answers(record));

    /// <summary>Describes how long requests of a device wait for a host, for people.</summary>
    public string PatienceOf(AttachRecord record) => attachers.FirstOrDefault(attacher => attacher.Method == record.Method)?.Patience ?? "not at all";

    /// <summary>
    /// Forgets the devices of earlier starts of the machine, before any is made: their links point to what other disks may get now. The devices are gone.
    /// </summary>
    public void ForgetFormerStarts()
    {
        AttachRecord[] former = store.ReadFormer();
        foreach (AttachRecord record in former)
        {
            Unlink(record.FriendlyName);
        }

        try
        {
            if (former.Length > 0)
            {
                store.RemoveFormer();
            }
        }
        catch (IOException e)
        {
            HostLog.Write($"the records of devices of an earlier start of this machine stay, without effect: {e.Message}");
        }
    }

    /// <summary>Detaches a disk, if it is attached.</summary>
    /// <param name="uniqueId">The disk.</param>
    /// <param name="force">Whether a device in use is taken away from its users: their requests fail from then on.</param>
    /// <exception cref="StorageException">Its device is in use; nothing was changed.</exception>
    public void Detach(string uniqueId, bool force = false)
    {
        if (store.Read().FirstOrDefault(record => record.UniqueId == uniqueId) is { } record)
        {
            if (!force)
            {
                RefuseIfInUse(record);
            }

            Clear(record);
        }

        _outcomes.TryRemove(uniqueId, out _);
    }

    /// <summary>Gives the device of a disk, in use or not, the size that the disk has now. False: only a new device can have it.</summary>
    public bool TryResize(string uniqueId)
    {
        try
        {
            return IntactRecordOf(uniqueId) is { } record && attachers.First(attacher => attacher.Method == record.Method).TryResize(record);
        }
        catch (AttachException e)
        {
            HostLog.Write($"the device of virtual disk {uniqueId} keeps its size: {e.Message}");
            return false;
        }
    }

    /// <summary>Removes the devices that nothing uses, as this host stops: they come back with the next start. One in use waits for it.</summary>
    public void DetachIdle()
    {
        foreach (AttachRecord record in store.Read())
        {
            try
            {
                RefuseIfInUse(record);
                Clear(record);
            }
            catch (StorageException use)
            {
                HostLog.Write($"virtual disk '{record.FriendlyName}' waits for the next start {PatienceOf(record)}: {use.Error.ExtendedInformation}");
            }
            catch (Exception e) when (e is AttachException or IOException)
            {
                HostLog.Write($"{record.Device} stays: {e.Message}");
            }
        }
    }

    /// <summary>Refuses to rename an attached disk whose device asks for its export by the friendly name.</summary>
    /// <exception cref="StorageException">An earlier version attached it; nothing was changed.</exception>
    public void RequireRenamable(string uniqueId)
    {
        if (_outcomes.ContainsKey(uniqueId) && store.Read().FirstOrDefault(record => record.UniqueId == uniqueId) is { ExportName.Length: 0 } record)
        {
            throw new StorageException(
                StorageErrors.VirtualDiskStateForbids,
                $"-NewFriendlyName: virtual disk '{record.FriendlyName}' was attached by an earlier version, under its name.",
                "Disconnect it and connect it again, then rename it.", record.FriendlyName);
        }
    }

    /// <summary>Gives the link of an attached disk the disk's new name. The device stays.</summary>
    public void Rename(string uniqueId, string friendlyName)
    {
        if (_outcomes.TryGetValue(uniqueId, out AttachOutcome? outcome)
            && store.Read().FirstOrDefault(record => record.UniqueId == uniqueId) is { } record)
        {
            try
            {
                _outcomes[uniqueId] = outcome with { DevicePath = Relink(record, friendlyName) };
            }
            catch (IOException e)
            {
                HostLog.Write($"{record.Device} keeps its link {outcome.DevicePath} until the host starts again: {e.Message}");
            }
        }
    }

    /// <summary>Returns the link to a device under the name that its disk has now: a host that was killed inside a change of it has left the old one.</summary>
    private string Relink(AttachRecord record, string friendlyName)
    {
        AttachRecord renamed = record with { FriendlyName = friendlyName };
        if (renamed != record)
        {
            store.Put(renamed);
            Unlink(record.FriendlyName);
        }

        return Link(renamed);
    }

    private AttachOutcome? TryResume(AttachTarget target)
    {
        if (store.Read().FirstOrDefault(record => record.UniqueId == target.UniqueId) is not { } record)
        {
            return null;
        }

        IAttacher? attacher = attachers.FirstOrDefault(attacher => attacher.Method == record.Method);
        if (attacher is null || !attacher.IsIntact(record))
        {
            Clear(record);
            return null;
        }

        attacher.Resume(record, target);
        return new AttachOutcome(record.Method, Relink(record, target.FriendlyName), record.Reason.Length > 0 ? record.Reason : null);
    }

    private AttachOutcome Make(AttachTarget target, AttachMethod? method)
    {
        List<string> reasons = [];
        bool hasFailed = false;
        foreach (IAttacher attacher in attachers.Where(attacher => method is null || attacher.Method == method.ToString()))
        {
            try
            {
                if (attacher.Obstacle() is not { } obstacle)
                {
                    return Make(attacher, target, string.Concat(reasons.Select(static reason => $"Not by {reason}. ")).Trim());
                }

                reasons.Add($"{attacher.Method}: {obstacle}");
            }
            catch (AttachException e)
            {
                reasons.Add($"{attacher.Method}: {e.Message}");
                hasFailed = true;
                HostLog.Write($"virtual disk '{target.FriendlyName}' gets no device by {attacher.Method}: {e.Message}");
            }
        }

        string why = method == AttachMethod.NbdUri ? "none was asked for" : string.Join("; ", reasons);
        return new AttachOutcome(UriOnly, null, $"No block device: {why}.", hasFailed);
    }

    private AttachOutcome Make(IAttacher attacher, AttachTarget target, string reason)
    {
        string folder = FolderOf(target.UniqueId);
        if (Directory.Exists(folder))
        {
            AttachRemains.Clear(folder);
        }

        Directory.CreateDirectory(folder);
        try
        {
            AttachRecord record = attacher.Attach(target, folder) with { Reason = reason };
            Remember(record, attacher);
            return new AttachOutcome(record.Method, Link(record), reason.Length > 0 ? reason : null);
        }
        catch (AttachException)
        {
            Remove(folder);
            throw;
        }
    }

    /// <summary>Saves the record of a new device; if it cannot be saved, the device is removed again, since no later host would find it.</summary>
    private void Remember(AttachRecord record, IAttacher attacher)
    {
        try
        {
            store.Put(record);
        }
        catch (IOException e)
        {
            attacher.Detach(record);
            throw new AttachException($"the record of the device cannot be saved: {e.Message}");
        }
    }

    /// <summary>Returns the stable link to a device, or the device itself if the link cannot be made: the disk is usable either way.</summary>
    private string Link(AttachRecord record)
    {
        try
        {
            return _links.Set(record.FriendlyName, record.Device);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            HostLog.Write($"{record.Device} has no link {_links.PathOf(record.FriendlyName)}: {e.Message}");
            return record.Device;
        }
    }

    private void Unlink(string friendlyName)
    {
        try
        {
            _links.Remove(friendlyName);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            HostLog.Write($"the link {_links.PathOf(friendlyName)} stays: {e.Message}");
        }
    }

    private void Clear(AttachRecord record)
    {
        attachers.FirstOrDefault(attacher => attacher.Method == record.Method)?.Detach(record);
        Unlink(record.FriendlyName);
        store.Remove(record.UniqueId);
        Remove(FolderOf(record.UniqueId));
    }

    private void RefuseIfInUse(AttachRecord record)
    {
        if (UseOf(record) is { } use)
        {
            throw new StorageException(StorageErrors.DeviceMounted, $"{use.Text}.", use.Remedy, record.FriendlyName);
        }
    }

    /// <summary>Short, since sockets live in it: a socket path has 107 bytes.</summary>
    private string FolderOf(string uniqueId) => Path.Combine(RootOf(paths.Home), DeviceLinks.Encode(uniqueId));

    private static void Remove(string folder)
    {
        try
        {
            Directory.Delete(folder, recursive: true);
        }
        catch (IOException e)
        {
            HostLog.Write($"{folder} stays: {e.Message}");
        }
    }
}

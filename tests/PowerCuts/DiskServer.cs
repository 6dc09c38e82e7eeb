using TierSpaces.Engine.Exports.Fuse;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;

namespace TierSpaces.PowerCuts;

/// <summary>Serves the disks of a machine as files, each of a FUSE mount of its own, all on one lane. They outlive the machine that uses them.</summary>
internal sealed class DiskServer : IDisposable
{
    private const string FileName = "disk";
    private static readonly TimeSpan s_beginTimeout = TimeSpan.FromSeconds(20);

    private readonly Lane _lane = LaneFactory.Create("power-cuts");
    private readonly List<(string Folder, int Descriptor, FuseSession Session)> _mounts = [];
    private readonly List<VolatileDisk> _disks = [];

    internal DiskServer(string folder, IEnumerable<(string Name, long Length)> disks)
    {
        foreach ((string name, long length) in disks)
        {
            VolatileDisk disk = new(Power, name, length);
            _disks.Add(disk);
            Mount(Directory.CreateDirectory(Path.Combine(folder, name)).FullName, disk);
        }

        Files = [.. _mounts.Select(static mount => Path.Combine(mount.Folder, FileName))];
    }

    internal PowerSupply Power { get; } = new();

    /// <summary>Paths of the disks, in their order.</summary>
    internal string[] Files { get; }

    /// <summary>Does something on the lane of the disks.</summary>
    internal T OnLane<T>(Func<T> work) => _lane.InvokeAsync(() => LaneTask.FromResult(work())).GetAwaiter().GetResult();

    /// <summary>Content of the disks.</summary>
    internal SimMedia[] Snapshot() => OnLane(() => _disks.ConvertAll(static disk => disk.Snapshot()).ToArray());

    /// <summary>
    /// The disks lose their power: the rule (disk, write, sector) names what stays. It is made from the number of pending writes of each disk.
    /// </summary>
    /// <returns>The pending writes.</returns>
    internal int[] Cut(Func<int[], Func<int, int, int, bool>> ruleOf) => OnLane(() =>
    {
        int[] pending = [.. _disks.Select(static disk => disk.Pending)];
        Func<int, int, int, bool> keep = ruleOf(pending);
        for (int i = 0; i < _disks.Count; i++)
        {
            int number = i;
            _disks[i].Cut((write, sector) => keep(number, write, sector));
        }

        return pending;
    });

    public void Dispose()
    {
        foreach ((string folder, int descriptor, FuseSession session) in _mounts)
        {
            FuseMount.Remove(folder);
            _lane.InvokeAsync(() => Drain(session)).GetAwaiter().GetResult();
            _ = Libc.Close(descriptor);
        }

        _lane.Dispose();
    }

    private void Mount(string folder, VolatileDisk disk)
    {
        int descriptor = FuseMount.Make(folder);
        FuseChannel channel = new(descriptor, FileName, isTakenOver: false);
        NbdExport export = new(Guid.NewGuid(), disk.Name, "", disk, isReadOnly: false);
        FuseSession session = OnLane(() => FuseSession.Start(_lane, _lane.Network, export, channel, Console.Error.WriteLine));
        _mounts.Add((folder, descriptor, session));
        if (!channel.Begun.Wait(s_beginTimeout) || channel.Begun.Result.Length > 0)
        {
            throw new IOException($"FUSE has not begun on {folder}: {(channel.Begun.IsCompleted ? channel.Begun.Result : "no answer")}");
        }
    }

    private static async LaneTask<Nothing> Drain(FuseSession session)
    {
        await session.Drain();
        return default;
    }
}

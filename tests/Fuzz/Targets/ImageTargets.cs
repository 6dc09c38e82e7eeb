using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;
using TierSpaces.Simulation;

namespace TierSpaces.Fuzz.Targets;

/// <summary>
/// A whole pool, opened from disks with any content: found, opened, its virtual disks opened, read, written, flushed and
/// closed. It may refuse anywhere with a reason; it may not throw, hang or take memory without end.
/// </summary>
internal static class ImageTargets
{
    private const int ReadBytes = 64 << 10;
    private const long MostRead = 4 << 20;
    private const long IdleNs = 20_000_000_000;

    internal static IReadOnlyList<FuzzTarget> All { get; } =
    [
        Target("pool-image", ImageArea.Labels, ImageArea.Superblocks, ImageArea.Journal, ImageArea.Heap, ImageArea.Host),
        Target("space-image", ImageArea.Log, ImageArea.ChecksumPages, ImageArea.Data, ImageArea.Host),
    ];

    private static FuzzTarget Target(string name, params ImageArea[] areas) =>
        new(name, [.. areas.SelectMany(Scripts)], bytes => Run(Kept(bytes, areas)))
        {
            Weight = 2, AllocationBase = 192 << 20, AllocationPerByte = 1 << 16, MaxLength = 1 + (8 * 24),
        };

    // For each area on each image: a change on one disk, and the same on both with the checksums right.
    private static IEnumerable<byte[]> Scripts(ImageArea area)
    {
        foreach (byte image in (byte[])[0, 1])
        {
            yield return [image, (byte)area, 0, 0, 100, 0, 0, 1, 0];
            yield return [image, (byte)((int)area | 0x10), 1, 0, 100, 0, 0, 1, 1];
        }
    }

    // Steps outside the areas of this target go to one of its own.
    private static byte[] Kept(byte[] script, ImageArea[] areas)
    {
        byte[] kept = (byte[])script.Clone();
        for (int at = 1; at < kept.Length; at += 8)
        {
            int area = kept[at] & 7;
            kept[at] = Array.Exists(areas, own => (int)own == area) ? kept[at] : (byte)((kept[at] & ~7) | (int)areas[area % areas.Length]);
        }

        return kept;
    }

    private static string Run(byte[] script)
    {
        PoolImage image = ImageScript.ImageOf(script);
        ImageDisk[] disks = image.Disks();
        using MemoryState state = image.State();
        ImageScript.Apply(script, image, disks, state);
        SimLane lane = new(1);
        try
        {
            return lane.Run(Use(new PoolEnvironment(lane, new StateFolder(lane, state), Samples.Id), disks));
        }
        finally
        {
            lane.Buffers.Dispose();
        }
    }

    private static async LaneTask<string> Use(PoolEnvironment environment, ImageDisk[] disks)
    {
        List<PoolScan> scans = [];
        foreach (ImageDisk disk in disks)
        {
            scans.Add(await Pool.Scan(environment, disk));
        }

        string kinds = string.Join(' ', scans.Select(static scan => scan.Kind));
        if (scans.Find(static scan => scan.Label is not null) is not { Label: { } label })
        {
            return kinds;
        }

        PoolOpenResult opened = await Pool.Open(environment, label.Pool, scans);
        string answer = $"{kinds} {opened.Status} {opened.Reason}";
        if (opened.Pool is not { } pool)
        {
            return answer;
        }

        foreach (VirtualDiskDescription disk in pool.State.VirtualDisks.Values.Where(static disk => !disk.IsBeingCreated).Take(3))
        {
            answer += await Use(environment, pool, disk);
        }

        await pool.Close();
        return answer;
    }

    private static async LaneTask<string> Use(PoolEnvironment environment, Pool pool, VirtualDiskDescription disk)
    {
        OpenVirtualDisk open = await VirtualDiskStack.Open(pool, disk.Id);
        if (open.Fault != IoError.None)
        {
            return open.FaultReason;
        }

        IoBuffer buffer = environment.Lane.Buffers.Rent(ReadBytes);
        int good = 0, bad = 0;
        for (long at = 0; at < Math.Min(disk.SizeBytes, MostRead); at += ReadBytes)
        {
            IoBuffer part = buffer.Slice(0, (int)Math.Min(ReadBytes, disk.SizeBytes - at));
            _ = await open.Disk.Read(at, part) == IoError.None ? good++ : bad++;
        }

        IoError write = await open.Disk.Write(0, buffer.Slice(0, 4096), WriteFlags.None);
        IoError flush = await open.Disk.Flush();
        environment.Lane.Buffers.Return(buffer);
        await environment.Lane.Delay(IdleNs);
        IoError close = await open.Close();
        SpaceDamageCounters damage = open.Space.Counters.Damage;
        SpaceRepairCounters repair = open.Space.Counters.Repair;
        uint seen = 0;
        foreach (long count in (ReadOnlySpan<long>)
            [damage.ChecksumMismatches, damage.BlocksHealed, damage.BlocksLost, damage.BlocksDiffering, damage.PageSectorsWrong,
            repair.RegionsResynced, repair.BlocksRecovered, open.Space.UnresolvedRegions])
        {
            seen = (seen << 2) | (count == 0 ? 0u : count == 1 ? 1u : 2u);
        }

        return $" read {good > 0} {bad > 0} {write} {flush} {close} {Letters.Of(seen)} {open.FaultReason}";
    }
}

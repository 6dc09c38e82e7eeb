using System.Text.Json.Nodes;
using TierSpaces.Engine.Management;

namespace TierSpaces.Golden;

/// <summary>Opens a golden pool with the present engine, step by step.</summary>
internal sealed class GoldenCheck(GoldenPack pack)
{
    private const string IdOfNewJob = "new";

    private GoldenWorld? _world;

    /// <summary>The host that opened the pool.</summary>
    public GoldenWorld World => _world ?? throw new InvalidOperationException("The pool is not open yet.");

    /// <summary>Opens the pool; returns its objects.</summary>
    public JsonObject Open()
    {
        _world = new GoldenWorld(pack);
        Array.ForEach([pack.Opened, pack.Settled], RenameNewJobs);
        JsonObject opened = GoldenObjects.Record(_world);
        RenameNewJobs(opened);
        return opened;
    }

    /// <summary>Returns the missing disks, waits until the jobs have ended; returns the objects then.</summary>
    public JsonObject Settle()
    {
        foreach (int disk in World.Away)
        {
            World.PutBack(disk);
        }

        World.Settle();
        JsonObject settled = GoldenObjects.Record(World);
        RenameNewJobs(settled);
        return settled;
    }

    /// <summary>Virtual disks whose contents are not what was written, with the first place that differs.</summary>
    public List<string> WrongBytes()
    {
        List<string> wrong = [];
        foreach (VirtualDiskStatus disk in World.Run(World.Subsystem.VirtualDisks.ListAsync()))
        {
            string name = disk.Description.FriendlyName;
            byte[] present = World.ReadAll(name);
            int same = present.AsSpan().CommonPrefixLength(GoldenData.After(pack.Facts.Writes, name, present.Length));
            if (same < present.Length)
            {
                wrong.Add($"virtual disk '{name}' at byte {same} of {present.Length}");
            }
        }

        return wrong;
    }

    /// <summary>The identities of jobs that began at the opening or after it are random: they get one that is not.</summary>
    private void RenameNewJobs(JsonObject? objects)
    {
        DateTime opened = new DateTime(2030, 1, 1, 0, 0, 0, DateTimeKind.Utc).AddTicks(pack.Facts.NowNs / 100);
        foreach (JsonObject job in objects?["StorageJob"]?.AsArray().Select(static job => job!.AsObject()) ?? [])
        {
            if ((string?)job["UniqueId"] == IdOfNewJob || (job["StartTime"]?.GetValue<DateTime>() is { } start && start.ToUniversalTime() > opened))
            {
                job["UniqueId"] = IdOfNewJob;
                job["ObjectId"] = IdOfNewJob;
            }
        }

        if (objects is not null)
        {
            GoldenObjects.Sort(objects);
        }
    }
}

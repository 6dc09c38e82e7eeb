using System.Text.Json;
using System.Text.Json.Nodes;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Tiering;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Golden;

// Objects of a pool that users see, as JSON: one array of objects a kind, in an order of their own.
//
// Invariants
//  1. Every property that was recorded must be there and have its value, except those that LeftOut names, each with its reason.
//  2. A later version may add kinds of objects and properties.
//  3. Fractions (heat) may differ by a thousandth: they decay with the clock.

/// <summary>Records the objects of a host and compares them with recorded ones.</summary>
internal static class GoldenObjects
{
    private const double Tolerance = 1e-3;

    private static readonly Dictionary<string, string> s_leftOut = new()
    {
        ["OtherOperationalStatusDescription"] = "words for people",
        ["StatusReason"] = "words for people",
        ["StateReason"] = "words for people",
        ["OtherCannotPoolReasonDescription"] = "words for people",
        ["JobStatus"] = "words for people",
        ["StatusDescriptions"] = "words for people",
        ["OperationalDetails"] = "words for people",
        ["Description"] = "words for people",
        ["OtherRecoveryAction"] = "words for people",
        ["Place"] = "words for people: a range was in bytes",
        ["ColumnIsolation"] = "was not shown before a virtual disk could have another than PhysicalDisk",
        ["ParityLayout"] = "was not shown before virtual disks could have parity",
        ["NumberOfColumnsMin"] = "of Parity it was that of Simple before virtual disks could have parity",
        ["InterleaveMax"] = "was 16 MiB also where the slabs of a pool are smaller",
        ["Version"] = "pools have no versions of Windows; one file has that of the format",
        ["MetadataPagesUsed"] = "depends on how the present version cuts pages",
        ["Lane"] = "depends on the lanes of the present host",
        ["SerialNumber"] = "image files had none; the present host gives one to those that their pool has none for",
        ["StartTime"] = "when the present host took the job up",
        ["TimeOfLastStateChange"] = "when the present host took the job up",
        ["ElapsedTime"] = "depends on how fast the present version is",
        ["TimeRemaining"] = "depends on how fast the present version is",
        ["TimeSubmitted"] = "of a job that the present host began, depends on how fast it is",
        ["ReplayTime"] = "depends on how fast the present version is",
        ["PercentComplete"] = "a job may have gone on since; checked against its bytes at the stop",
        ["BytesProcessed"] = "a job may have gone on since; checked against its bytes at the stop",
        ["BlocksVerified"] = "depends on where a job went on",
        ["DirtyBytes"] = "destaging goes on at once; the bytes are compared instead",
        ["AvailableBytes"] = "destaging goes on at once",
        ["DestagedBytes"] = "counted since the cache was opened",
        ["HitBytes"] = "counted since the cache was opened",
        ["MissBytes"] = "counted since the cache was opened",
    };

    /// <summary>Properties that are not compared, and why.</summary>
    public static IReadOnlyDictionary<string, string> LeftOut => s_leftOut;

    /// <summary>Everything that is listed now.</summary>
    public static JsonObject Record(GoldenWorld world)
    {
        StorageSubsystem subsystem = world.Subsystem;
        StoragePoolStatus[] pools = world.Run(subsystem.Pools.ListAsync());
        PhysicalDiskStatus[] physical = world.Run(subsystem.PhysicalDisks.ListAsync());
        VirtualDiskStatus[] disks = world.Run(subsystem.VirtualDisks.ListAsync());
        JsonObject objects = new()
        {
            ["StoragePool"] = All(pools, static pool => pool.ToInfo()),
            ["ResiliencySetting"] = All(
                pools.SelectMany(static pool => pool.Description.ResiliencySettings, static (pool, setting) => new ResiliencyTarget(pool, setting)),
                static target => target.ToInfo()),
            ["PhysicalDisk"] = All(physical, static disk => disk.ToInfo()),
            ["VirtualDisk"] = All(disks, static disk => disk.ToInfo(SlabGeometry.SmallestSlab, attached: null, listenUri: null)),
            ["VirtualDiskWriteCache"] = All(disks, static disk => disk.ToWriteCacheInfo()),
            ["StorageTier"] = All(world.Run(subsystem.Tiers.ListAsync()), static tier => tier.ToInfo()),
            ["FileStorageTier"] = All(world.Run(subsystem.Pins.ListAsync(null)), static pin => pin.ToInfo()),
            ["StorageTierSchedule"] = All(pools, pool => new { Pool = pool.UniqueId, Schedule = world.Run(subsystem.TierSchedules.GetAsync(pool.UniqueId)) }),
            ["ScrubInterval"] = All(pools, pool => new { Pool = pool.UniqueId, Interval = world.Run(subsystem.Scrubs.IntervalAsync(pool.UniqueId)) }),
            ["StorageTierHeat"] = All(disks.Where(static disk => disk.Description.IsTiered).SelectMany(disk => Slices(world, disk)), static slice => slice),
            ["PhysicalExtent"] = All(world.Run(subsystem.Placements.ExtentsAsync(null, null)), static extent => extent),
            ["StorageJob"] = All(world.Jobs, static job => job.ToInfo()),
        };
        Sort(objects);
        return objects;
    }

    /// <summary>Brings the objects of each kind into an order that only depends on what is compared.</summary>
    public static void Sort(JsonObject objects)
    {
        foreach ((string kind, JsonNode? all) in objects.ToArray())
        {
            objects[kind] = new JsonArray([.. all!.AsArray().Select(static one => one!.DeepClone()).OrderBy(Key, StringComparer.Ordinal)]);
        }
    }

    /// <summary>Differences of the present objects from the recorded ones, one line a difference.</summary>
    public static List<string> Differences(JsonObject recorded, JsonObject present)
    {
        List<string> differences = [];
        Sort(recorded);   // what is left out may have been another list when the file was written
        Compare("", recorded, present, differences);
        return differences;
    }

    private static object[] Slices(GoldenWorld world, VirtualDiskStatus disk)
    {
        HeatRanking ranking = world.Run(world.Subsystem.Slices.RankingAsync(disk.Description.Id.Value));
        SlicePage page = world.Run(world.Subsystem.Slices.ListAsync(disk.Description.Id.Value, 0, long.MaxValue, ranking.NowNs));
        return [.. page.Slices.Select(slice => slice.ToInfo(disk.Description, ranking))];
    }

    private static JsonArray All<TStatus, TInfo>(IEnumerable<TStatus> all, Func<TStatus, TInfo> map) => new(
        [.. all.Select(one => map(one)).Select(static info => JsonSerializer.SerializeToNode(info, info!.GetType()))]);

    private static string Key(JsonNode one) => string.Join(
        '\n', one.AsObject().Where(property => !IsLeftOut(one.AsObject(), property.Key)).Select(static property => property.Value?.ToJsonString()));

    /// <summary>
    /// Whether a property of an object is not compared. The allocated size of a virtual disk with parity once counted the parity; an image file without a place
    /// had no location, and now has its path, which is one of the present host. Jobs did not name their virtual disks. A repair that the present host began
    /// has a name of its own, copies what a disk can lack, and verifies nothing: that is the work of a scrub.
    /// </summary>
    private static bool IsLeftOut(JsonObject owner, string property) => s_leftOut.ContainsKey(property)
        || (property is "Name" or "BytesTotal" or "BlocksHealed" or "BlocksLost" or "BlocksDiffering"
            && owner["Name"]?.ToString() is "Repair" or "Regeneration" && owner["UniqueId"]?.ToString() == "new")
        || (property == "VirtualDiskFriendlyName" && owner.ContainsKey("JobState"))
        || (property == "PhysicalLocation" && owner[property]?.ToString() is (null or ['/', ..]))
        || (property == "AllocatedSize" && owner.TryGetPropertyValue("ResiliencySettingName", out JsonNode? layout) && layout?.ToString() == "Parity");

    private static void Compare(string where, JsonNode? recorded, JsonNode? present, List<string> differences)
    {
        switch (recorded, present)
        {
            case (JsonObject was, JsonObject now):
                foreach ((string name, JsonNode? value) in was.Where(property => !IsLeftOut(was, property.Key)))
                {
                    if (now.TryGetPropertyValue(name, out JsonNode? found))
                    {
                        Compare($"{where}/{name}", value, found, differences);
                    }
                    else
                    {
                        differences.Add($"{where}/{name}: is not there any more");
                    }
                }

                break;
            case (JsonArray was, JsonArray now):
                if (was.Count != now.Count)
                {
                    differences.Add($"{where}: {was.Count} recorded, {now.Count} present: {now.ToJsonString()}");
                    break;
                }

                for (int i = 0; i < was.Count; i++)
                {
                    Compare($"{where}[{i}]", was[i], now[i], differences);
                }

                break;
            default:
                if (!IsSame(recorded, present))
                {
                    differences.Add($"{where}: {recorded?.ToJsonString() ?? "null"} recorded, {present?.ToJsonString() ?? "null"} present");
                }

                break;
        }
    }

    private static bool IsSame(JsonNode? recorded, JsonNode? present)
    {
        string was = recorded?.ToJsonString() ?? "null";
        string now = present?.ToJsonString() ?? "null";
        return was == now
            || (was.Contains('.') && double.TryParse(was, System.Globalization.CultureInfo.InvariantCulture, out double before)
                && double.TryParse(now, System.Globalization.CultureInfo.InvariantCulture, out double after)
                && Math.Abs(before - after) <= Tolerance * Math.Abs(before));
    }
}

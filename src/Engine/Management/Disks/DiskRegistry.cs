using System.Text.Json;
using System.Text.Json.Serialization;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>The list of registered disks in the host's state: a convenience for finding members again, never truth about a pool.</summary>
internal sealed class DiskRegistry(StateFolder state)
{
    private const string FileName = "disks.json";

    internal List<RegisteredDisk> Disks { get; private set; } = [];

    internal int NextDeviceId => Disks.Count == 0 ? 0 : Disks.Max(disk => disk.Stored.DeviceId) + 1;

    /// <summary>
    /// Reads the list. Of one that cannot be read, in whole or in part, that is left out and named in what is returned: those disks are
    /// registered again by hand.
    /// </summary>
    internal async LaneTask<string> Load()
    {
        byte[]? content = await state.ReadFile(FileName);
        try
        {
            IReadOnlyList<StoredDisk?> read = content is null ? [] : JsonSerializer.Deserialize(content, RegistryJson.Default.ListStoredDisk) ?? [];
            Disks = [.. read.Select(StoredDisk.Whole).OfType<StoredDisk>().Select(static stored => new RegisteredDisk(stored))];
            return Disks.Count == read.Count
                ? ""
                : $"{read.Count - Disks.Count} of {read.Count} entries in the list of registered disks name no disk; register those disks again.";
        }
        catch (JsonException damage)
        {
            Disks = [];
            return $"The list of registered disks cannot be read ({damage.Message}); register them again.";
        }
    }

    /// <summary>Writes the list as it is now. Of two calls the later one decides what the file holds.</summary>
    /// <exception cref="IOException">It could not be made durable, or not in time.</exception>
    internal LaneTask<Nothing> Save() => state.WriteFile(
        FileName, JsonSerializer.SerializeToUtf8Bytes([.. Disks.Select(static disk => disk.Stored)], RegistryJson.Default.ListStoredDisk));
}

[JsonSourceGenerationOptions(WriteIndented = true, PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(List<StoredDisk>))]
internal sealed partial class RegistryJson : JsonSerializerContext;

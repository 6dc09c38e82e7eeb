using System.Text.Json;
using System.Text.Json.Serialization;
using TierSpaces.Engine.Devices;

namespace TierSpaces.Host.Attaching;

/// <summary>
/// The records of attached disks, in the host's state. A record is written before anyone is told of the device.
/// </summary>
internal sealed class AttachStore(IHostState state)
{
    private const string Name = "attached.json";

    /// <summary>
    /// Every record. What cannot be read is left out, and said in the log: the devices it was about are made anew, and their remains are
    /// nobody's.
    /// </summary>
    public AttachRecord[] Read()
    {
        try
        {
            return state.ReadFile(Name) is { } content
                ? [.. (JsonSerializer.Deserialize(content, AttachJson.Default.AttachRecordArray) ?? []).Where(IsWhole).Select(Filled)]
                : [];
        }
        catch (JsonException damage)
        {
            HostLog.Write($"the records of attached disks cannot be read: {damage.Message}");
            return [];
        }
    }

    // JSON leaves null where nothing stands, whatever the type promises.
    private static bool IsWhole(AttachRecord? record) =>
        record is { UniqueId: not null, FriendlyName: not null, Method: not null, Device: not null };

    private static AttachRecord Filled(AttachRecord record) => record with
    {
        Use = record.Use ?? "",
        Folder = record.Folder ?? "",
        Processes = [.. (record.Processes ?? []).Where(mark => mark is not null)],
    };

    /// <summary>Adds or replaces a record.</summary>
    public void Put(AttachRecord record) => Write([.. Read().Where(other => other.UniqueId != record.UniqueId), record]);

    /// <summary>Removes a record.</summary>
    public void Remove(string uniqueId) => Write([.. Read().Where(other => other.UniqueId != uniqueId)]);

    private void Write(AttachRecord[] records) =>
        state.WriteFile(Name, JsonSerializer.SerializeToUtf8Bytes(records, AttachJson.Default.AttachRecordArray));
}

/// <summary>Serialization of the records, generated at build.</summary>
[JsonSourceGenerationOptions(WriteIndented = true)]
[JsonSerializable(typeof(AttachRecord[]))]
internal sealed partial class AttachJson : JsonSerializerContext;

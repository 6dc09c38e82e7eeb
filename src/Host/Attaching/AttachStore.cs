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

    /// <summary>Every record.</summary>
    public AttachRecord[] Read() =>
        state.ReadFile(Name) is { } content
            ? JsonSerializer.Deserialize(content, AttachJson.Default.AttachRecordArray) ?? []
            : [];

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

using System.Text.Json;
using System.Text.Json.Serialization;
using TierSpaces.Engine.Devices;

namespace TierSpaces.Host.Listening;

/// <summary>Address of a virtual disk, which it has until it is disconnected.</summary>
internal sealed record ListenRecord
{
    /// <summary>Identifier of the virtual disk.</summary>
    public required string UniqueId { get; init; }

    /// <summary>IP address and port.</summary>
    public required string Address { get; init; }

    /// <summary>Folder of the certificates; null: clients connect in the clear.</summary>
    public string? TlsCertificatePath { get; init; }
}

/// <summary>The file <c>listening.json</c> in the host's state. A record is durable before its address answers.</summary>
internal sealed class ListenStore(IHostState state)
{
    private const string Name = "listening.json";

    /// <summary>Returns the record of a virtual disk; null: it has none.</summary>
    public ListenRecord? Find(string uniqueId) => Read().FirstOrDefault(record => record.UniqueId == uniqueId);

    /// <summary>Adds or replaces a record.</summary>
    /// <exception cref="IOException">It cannot be saved; the file is as before.</exception>
    public void Put(ListenRecord record) => Write([.. Read().Where(other => other.UniqueId != record.UniqueId), record]);

    /// <summary>Removes a record, if there is one.</summary>
    /// <exception cref="IOException">The change cannot be saved; the file is as before.</exception>
    public void Remove(string uniqueId)
    {
        if (Find(uniqueId) is not null)
        {
            Write([.. Read().Where(other => other.UniqueId != uniqueId)]);
        }
    }

    /// <summary>Returns every complete record; none, with a line in the log, if the file cannot be parsed. Their addresses do not answer then.</summary>
    private ListenRecord[] Read()
    {
        try
        {
            ListenRecord[]? records = state.ReadFile(Name) is { } content ? JsonSerializer.Deserialize(content, ListenJson.Default.ListenRecordArray) : null;
            return [.. (records ?? []).Where(static record => record is { UniqueId: not null, Address: not null })];
        }
        catch (JsonException damage)
        {
            HostLog.Write($"{Name} cannot be read, virtual disks listen at no TCP address: {damage.Message}");
            return [];
        }
    }

    private void Write(ListenRecord[] records) => state.WriteFile(Name, JsonSerializer.SerializeToUtf8Bytes(records, ListenJson.Default.ListenRecordArray));
}

/// <summary>Serialization of the records, generated at build.</summary>
[JsonSourceGenerationOptions(WriteIndented = true)]
[JsonSerializable(typeof(ListenRecord[]))]
internal sealed partial class ListenJson : JsonSerializerContext;

using System.Text.Json;
using System.Text.Json.Serialization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;

namespace TierSpaces.Host.Health;

/// <summary>The file <c>health.json</c> in the host's state: what has been reported of the health of each object.</summary>
internal sealed class HealthStore(IHostState state)
{
    private const string Name = "health.json";
    private string _problem = "";

    /// <summary>Returns what the host before has reported. If the file cannot be read, nothing, with a line in the log: faults are reported again.</summary>
    public ObjectHealth[] Read()
    {
        try
        {
            return state.ReadFile(Name) is { } content
                ? [.. (JsonSerializer.Deserialize(content, HealthJson.Default.ObjectHealthArray) ?? []).Where(IsWhole)] : [];
        }
        catch (Exception e) when (e is JsonException or IOException)
        {
            HostLog.Write($"what was reported of the health cannot be read, faults are reported again: {e.Message}");
            return [];
        }
    }

    /// <summary>Saves what has been reported. If that fails, it is logged once, and the next host reports some changes again.</summary>
    public void Write(ObjectHealth[] reported)
    {
        try
        {
            state.WriteFile(Name, JsonSerializer.SerializeToUtf8Bytes(reported, HealthJson.Default.ObjectHealthArray));
            _problem = "";
        }
        catch (IOException e) when (e.Message == _problem)
        {
            // It is in the log.
        }
        catch (IOException e)
        {
            _problem = e.Message;
            HostLog.Write($"what was reported of the health cannot be saved: {e.Message}");
        }
    }

    // JSON leaves a missing property null, even where the type is not nullable.
    private static bool IsWhole(ObjectHealth? one) =>
        one is { UniqueId: not null, Name: not null, PoolName: not null, Status: not null, Reason: not null } && Enum.IsDefined(one.Subject);
}

/// <summary>Serialization of what was reported, generated at build.</summary>
[JsonSourceGenerationOptions(WriteIndented = true, IgnoreReadOnlyProperties = true, UseStringEnumConverter = true)]
[JsonSerializable(typeof(ObjectHealth[]))]
internal sealed partial class HealthJson : JsonSerializerContext;

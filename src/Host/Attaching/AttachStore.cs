using System.Text.Json;
using System.Text.Json.Serialization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;

namespace TierSpaces.Host.Attaching;

/// <summary>
/// The records of attached disks, in the host's state. A record is written before the device is announced. It counts until the machine starts again: the
/// device that it names may be that of another disk then, with the same number of its use. The method that a user has asked for is a file of its own: it
/// outlives the device.
/// </summary>
/// <param name="state">State of the host.</param>
/// <param name="boot">Identity of this start of the machine; empty where it is not known: every record counts.</param>
internal sealed class AttachStore(IHostState state, string boot = "")
{
    private const string Name = "attached.json";
    private const string Methods = "attach-methods.json";

    /// <summary>Returns every complete record of this start of the machine; see <see cref="ReadAll"/>.</summary>
    public AttachRecord[] Read() => [.. ReadAll().Where(IsOfThisStart)];

    /// <summary>Returns the records of devices that ended with an earlier start of the machine.</summary>
    public AttachRecord[] ReadFormer() => [.. ReadAll().Where(record => !IsOfThisStart(record))];

    /// <summary>Removes the records of devices that ended with an earlier start of the machine.</summary>
    public void RemoveFormer() => Write(Read());

    private bool IsOfThisStart(AttachRecord record) => record.Boot.Length == 0 || boot.Length == 0 || record.Boot == boot;

    /// <summary>
    /// Returns every complete record; none, with a line in the log, if the file cannot be parsed. The devices of missing records are
    /// attached again, and what the old ones have left behind is not cleaned up.
    /// </summary>
    private AttachRecord[] ReadAll()
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

    // JSON leaves a missing property null, even where the type is not nullable.
    private static bool IsWhole(AttachRecord? record) =>
        record is { UniqueId: not null, FriendlyName: not null, Method: not null, Device: not null };

    private static AttachRecord Filled(AttachRecord record) => record with
    {
        ExportName = record.ExportName ?? "",
        Use = record.Use ?? "",
        Boot = record.Boot ?? "",
        Folder = record.Folder ?? "",
        FileName = record.FileName ?? "",
        Reason = record.Reason ?? "",
        Processes = [.. (record.Processes ?? []).Where(mark => mark is not null)],
    };

    /// <summary>Adds or replaces a record.</summary>
    public void Put(AttachRecord record) => Write([.. ReadAll().Where(other => other.UniqueId != record.UniqueId), record with { Boot = boot }]);

    /// <summary>Removes a record.</summary>
    public void Remove(string uniqueId) => Write([.. ReadAll().Where(other => other.UniqueId != uniqueId)]);

    /// <summary>Returns the only method by which a disk is to be attached; null for the first that works.</summary>
    public AttachMethod? MethodOf(string uniqueId) =>
        ReadMethods().TryGetValue(uniqueId, out string? name) && Enum.TryParse(name, out AttachMethod method) ? method : null;

    /// <summary>Sets the only method by which a disk is to be attached; null for the first that works.</summary>
    public void SetMethod(string uniqueId, AttachMethod? method)
    {
        Dictionary<string, string> methods = ReadMethods();
        bool isChanged = method is { } asked ? methods.GetValueOrDefault(uniqueId) != asked.ToString() : methods.ContainsKey(uniqueId);
        if (isChanged)
        {
            methods.Remove(uniqueId);
            if (method is { } name)
            {
                methods[uniqueId] = name.ToString();
            }

            state.WriteFile(Methods, JsonSerializer.SerializeToUtf8Bytes(methods, AttachJson.Default.DictionaryStringString));
        }
    }

    private Dictionary<string, string> ReadMethods()
    {
        try
        {
            return state.ReadFile(Methods) is { } content ? JsonSerializer.Deserialize(content, AttachJson.Default.DictionaryStringString) ?? [] : [];
        }
        catch (JsonException damage)
        {
            HostLog.Write($"the methods by which disks are to be attached cannot be read: {damage.Message} The first that works is taken.");
            return [];
        }
    }

    private void Write(AttachRecord[] records) =>
        state.WriteFile(Name, JsonSerializer.SerializeToUtf8Bytes(records, AttachJson.Default.AttachRecordArray));
}

/// <summary>Serialization of the records, generated at build.</summary>
[JsonSourceGenerationOptions(WriteIndented = true)]
[JsonSerializable(typeof(AttachRecord[]))]
[JsonSerializable(typeof(Dictionary<string, string>))]
internal sealed partial class AttachJson : JsonSerializerContext;

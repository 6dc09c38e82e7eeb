using System.Text.Json;

namespace TierSpaces.Contracts;

/// <summary>An object of a running host, as far as completion needs it.</summary>
/// <param name="Name">Friendly name, or name where the class has no friendly one.</param>
/// <param name="UniqueId">Unique identifier.</param>
public readonly record struct NamedObject(string Name, string UniqueId);

/// <summary>
/// Returns the objects of a running host, for completion. Returns none if no host runs or if it does not answer within a second; starts
/// no host.
/// </summary>
public static class ObjectNames
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(1);

    /// <summary>The objects of a class, each name once.</summary>
    /// <param name="windowsClass">Class, for example MSFT_StoragePool.</param>
    public static NamedObject[] Of(string windowsClass)
    {
        if (VerbDescription.Find("Get-" + windowsClass.Split('_')[^1]) is not { } verb)
        {
            return [];
        }

        try
        {
            using ManagementClient client = new ManagementClient();
            using CancellationTokenSource limit = new CancellationTokenSource(s_patience);
            byte[] answer = Task.Run(() => client.SendAsync(verb.Name, "{}"u8.ToArray(), limit.Token)).GetAwaiter().GetResult();
            using JsonDocument reply = JsonDocument.Parse(answer);
            return reply.RootElement.GetProperty("Objects").EnumerateArray()
                .Select(item => new NamedObject(Text(item, "FriendlyName") ?? Text(item, "Name") ?? "", Text(item, "UniqueId") ?? ""))
                .Where(item => item.Name.Length > 0).DistinctBy(item => item.Name).ToArray();
        }
        catch (Exception e) when (e is StorageException or OperationCanceledException or JsonException)
        {
            return [];
        }
    }

    private static string? Text(JsonElement item, string property) =>
        item.TryGetProperty(property, out JsonElement value) && value.ValueKind == JsonValueKind.String ? value.GetString() : null;
}

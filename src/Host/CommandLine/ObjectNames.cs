using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>Friendly names from a running host, for completion. Silent when there is none.</summary>
internal static class ObjectNames
{
    /// <summary>Friendly names of the objects of a class.</summary>
    public static IEnumerable<string> Of(string windowsClass)
    {
        if (VerbDescription.Find("Get-" + windowsClass["MSFT_".Length..]) is not { } verb)
        {
            return [];
        }

        try
        {
            using var client = new ManagementClient();
            using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(1));
            var answer = client.SendAsync(verb.Name, "{}"u8.ToArray(), patience.Token).GetAwaiter().GetResult();
            using var reply = JsonDocument.Parse(answer);
            return reply.RootElement.GetProperty("Objects").EnumerateArray().Select(NameOf).OfType<string>().ToArray();
        }
        catch (Exception e) when (e is StorageException or OperationCanceledException or JsonException)
        {
            return [];
        }
    }

    private static string? NameOf(JsonElement item) =>
        item.TryGetProperty("FriendlyName", out var name) || item.TryGetProperty("Name", out name) ? name.GetString() : null;
}

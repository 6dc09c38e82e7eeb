using System.Globalization;
using System.Text.Json;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Devices;

// wipefs of util-linux knows some ninety kinds of content and verifies the checksums of most. It is asked for a list and never to erase: with a disk that
// the host holds open it would have to be forced, and its writes would pass by the host's deadlines.

/// <summary>The signatures that <c>wipefs</c> finds.</summary>
internal sealed class SystemSignatures : ISignatureTool
{
    /// <inheritdoc/>
    public string Name => "wipefs";

    /// <inheritdoc/>
    public IReadOnlyList<DiskSignature>? List(string path)
    {
        if (Tool.Find(Name) is null)
        {
            return null;
        }

        try
        {
            return Read(Tool.Run(Name, "--no-act", "--json", "--output", "OFFSET,LENGTH,TYPE,USAGE", path));
        }
        catch (Exception e) when (e is AttachException or JsonException or FormatException or InvalidOperationException or KeyNotFoundException)
        {
            HostLog.Write($"{Name} {path}: {e.Message}");
            return null;
        }
    }

    /// <inheritdoc/>
    public void ReadPartitionsAgain(string path)
    {
        try
        {
            Tool.Run("blockdev", "--rereadpt", path);
        }
        catch (AttachException e)
        {
            HostLog.Write(e.Message);
        }
    }

    /// <summary>Reads the answer of the program. An empty answer is an empty list.</summary>
    /// <exception cref="JsonException">It is no such answer.</exception>
    internal static IReadOnlyList<DiskSignature> Read(string answer)
    {
        if (answer.Length == 0)
        {
            return [];
        }

        using JsonDocument document = JsonDocument.Parse(answer);
        return [.. document.RootElement.GetProperty("signatures").EnumerateArray().Select(ReadOne)];
    }

    private static DiskSignature ReadOne(JsonElement one)
    {
        string offset = one.GetProperty("offset").GetString()!;
        string type = one.GetProperty("type").GetString() ?? "unknown";
        string usage = one.TryGetProperty("usage", out JsonElement known) ? known.GetString() ?? "" : "";
        JsonElement length = one.GetProperty("length");
        int bytes = length.ValueKind == JsonValueKind.Number ? length.GetInt32() : int.Parse(length.GetString()!, CultureInfo.InvariantCulture);
        return new DiskSignature(
            long.Parse(offset.AsSpan(2), NumberStyles.HexNumber, CultureInfo.InvariantCulture), Math.Max(1, bytes), NameOf(type, usage), KindOf(type, usage));
    }

    private static string NameOf(string type, string usage) => usage switch
    {
        "partition-table" => $"a partition table ({type})",
        "filesystem" => $"a file system ({type})",
        "raid" => $"metadata of a RAID or a volume group ({type})",
        "crypto" => $"an encrypted volume ({type})",
        _ => type == "swap" ? "swap space (swap)" : $"a signature of other software ({type})",
    };

    private static SignatureKind KindOf(string type, string usage) =>
        usage == "raid" || type.EndsWith("_member", StringComparison.Ordinal) ? SignatureKind.Member : SignatureKind.Data;
}

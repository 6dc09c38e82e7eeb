using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Attaching;

/// <summary>
/// Stable links to devices: <c>$TIERSPACES_HOME/dev/FriendlyName</c>. Bytes that a file name cannot or should not hold are
/// percent-encoded, so that no two names share a link and none leaves the folder. An encoded name that is longer than
/// <see cref="LengthMax"/> is cut and ends in <c>~</c> and a digest of the whole name; no shorter link contains a <c>~</c>.
/// <para>
/// A host of root also makes <c>/dev/tierspaces/FriendlyName</c>, which leads to the stable link, and by that shows whose it is. Of two homes with disks of one
/// name the first one has it: a link that leads to a device of another home stays.
/// </para>
/// </summary>
/// <param name="folder">Folder of the links of this home.</param>
/// <param name="common">Folder of the links of all homes; null for none.</param>
internal sealed class DeviceLinks(string folder, string? common = null)
{
    /// <summary>Folder of the links of all homes of root.</summary>
    public const string Common = "/dev/tierspaces";

    /// <summary>Longest name of a link, in bytes: Linux takes 255, and a temporary link is one byte longer.</summary>
    public const int LengthMax = 200;

    private const int DigestBytes = 16;
    private const string Plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.+:@";

    /// <summary>Path of the link of a name.</summary>
    public string PathOf(string friendlyName) => Path.Combine(folder, Encode(friendlyName));

    /// <summary>Makes the link point to a device, whatever it pointed to before.</summary>
    public string Set(string friendlyName, string device)
    {
        string path = PathOf(friendlyName);
        Replace(path, device);
        if (CommonOf(friendlyName) is { } link && (IsOurs(link, path) || FileSystemCalls.RealPath(link) is null))
        {
            Try(link, () => Replace(link, path));
        }

        return path;
    }

    /// <summary>Removes the link.</summary>
    public void Remove(string friendlyName)
    {
        File.Delete(PathOf(friendlyName));
        if (CommonOf(friendlyName) is { } link && IsOurs(link, PathOf(friendlyName)))
        {
            Try(link, () => File.Delete(link));
        }
    }

    private string? CommonOf(string friendlyName) => common is null ? null : Path.Combine(common, Encode(friendlyName));

    private static bool IsOurs(string link, string path) => new FileInfo(link).LinkTarget == path;

    private static void Replace(string path, string target)
    {
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        string temporary = path + "%";
        File.Delete(temporary);
        File.CreateSymbolicLink(temporary, target);
        try
        {
            File.Move(temporary, path, overwrite: true);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            File.Delete(temporary);   // something else has the name
            throw;
        }
    }

    private static void Try(string link, Action step)
    {
        try
        {
            step();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            HostLog.Write($"the link {link} stays as it is: {e.Message}");
        }
    }

    /// <summary>Returns the name as it is written on disk: 1 to <see cref="LengthMax"/> ASCII characters.</summary>
    public static string Encode(string friendlyName)
    {
        StringBuilder text = new StringBuilder();
        int whole = LengthMax - 1 - (2 * DigestBytes);   // what a cut name keeps, in complete bytes of the name
        int kept = 0;
        byte[] bytes = Encoding.UTF8.GetBytes(friendlyName);
        foreach (byte octet in bytes)
        {
            bool isLeadingDot = text.Length == 0 && octet == '.';
            _ = Plain.Contains((char)octet) && !isLeadingDot
                ? text.Append((char)octet)
                : text.Append(CultureInfo.InvariantCulture, $"%{octet:X2}");
            kept = text.Length <= whole ? text.Length : kept;
        }

        return text.Length <= LengthMax
            ? text.ToString()
            : $"{text.ToString(0, kept)}~{Convert.ToHexString(SHA256.HashData(bytes), 0, DigestBytes)}";
    }
}

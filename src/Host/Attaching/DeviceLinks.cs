using System.Globalization;
using System.Text;

namespace TierSpaces.Host.Attaching;

/// <summary>
/// Stable links to devices: <c>$TIERSPACES_HOME/dev/FriendlyName</c>. Bytes that a file name cannot or should not hold are
/// percent-encoded, so that no two names share a link and none leaves the folder.
/// </summary>
internal sealed class DeviceLinks(string folder)
{
    private const string Plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.+:@";

    /// <summary>Path of the link of a name.</summary>
    public string PathOf(string friendlyName) => Path.Combine(folder, Encode(friendlyName));

    /// <summary>Makes the link point to a device, whatever it pointed to before.</summary>
    public string Set(string friendlyName, string device)
    {
        Directory.CreateDirectory(folder);
        var path = PathOf(friendlyName);
        var temporary = path + "%";
        File.Delete(temporary);
        File.CreateSymbolicLink(temporary, device);
        File.Move(temporary, path, overwrite: true);
        return path;
    }

    /// <summary>Removes the link.</summary>
    public void Remove(string friendlyName) => File.Delete(PathOf(friendlyName));

    /// <summary>The name as it is written on disk.</summary>
    public static string Encode(string friendlyName)
    {
        var text = new StringBuilder();
        foreach (var octet in Encoding.UTF8.GetBytes(friendlyName))
        {
            var isLeadingDot = text.Length == 0 && octet == '.';
            _ = Plain.Contains((char)octet) && !isLeadingDot
                ? text.Append((char)octet)
                : text.Append(CultureInfo.InvariantCulture, $"%{octet:X2}");
        }

        return text.ToString();
    }
}

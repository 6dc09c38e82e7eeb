namespace TierSpaces.Engine.Devices;

/// <summary>Kind of a disk, named by the scheme of its URI.</summary>
public enum DiskKind
{
    /// <summary>An image file: <c>file:/path</c>.</summary>
    File,

    /// <summary>A block device: <c>block:/dev/x</c>.</summary>
    Block,

    /// <summary>An image file that behaves like a class of disk: <c>emulated:/path?profile=HDD10K</c>.</summary>
    Emulated,
}

/// <summary>
/// A disk's URI: a scheme and an absolute path, in which <c>%</c>, <c>?</c> and control characters are written as
/// <c>%XX</c> of their UTF-8; an emulated disk adds <c>?profile=</c> and a name.
/// </summary>
/// <param name="Kind">The scheme.</param>
/// <param name="Path">Absolute path, decoded.</param>
/// <param name="Profile">Latency profile of an emulated disk, else empty.</param>
public sealed record DiskUri(DiskKind Kind, string Path, string Profile)
{
    private const string ProfileQuery = "profile=";

    /// <summary>The URI of an image file.</summary>
    public static DiskUri ForFile(string path) => new(DiskKind.File, System.IO.Path.GetFullPath(path), string.Empty);

    /// <summary>The URI of a block device.</summary>
    public static DiskUri ForBlock(string path) => new(DiskKind.Block, System.IO.Path.GetFullPath(path), string.Empty);

    /// <summary>The URI of an emulated disk over an image file.</summary>
    public static DiskUri ForEmulated(string path, string profile) => new(DiskKind.Emulated, System.IO.Path.GetFullPath(path), profile);

    /// <summary>Whether a text is a URI of a disk.</summary>
    public static bool IsOne(string uri)
    {
        try
        {
            Parse(uri);
            return true;
        }
        catch (DiskOpenException)
        {
            return false;
        }
    }

    /// <summary>Reads a URI.</summary>
    /// <exception cref="DiskOpenException">It is not one; the message says what is wrong and what is expected.</exception>
    public static DiskUri Parse(string uri)
    {
        int colon = uri.IndexOf(':');
        DiskKind kind = (colon < 0 ? string.Empty : uri[..colon].ToLowerInvariant()) switch
        {
            "file" => DiskKind.File,
            "block" => DiskKind.Block,
            "emulated" => DiskKind.Emulated,
            _ => throw Unsuitable(uri, "it begins with none of 'file:', 'block:' and 'emulated:'"),
        };
        string rest = uri[(colon + 1)..];
        int question = rest.IndexOf('?');
        string query = question < 0 ? string.Empty : rest[(question + 1)..];
        string path = Decode(uri, question < 0 ? rest : rest[..question]);
        if (!path.StartsWith('/') || path.Contains('\0'))
        {
            throw Unsuitable(uri, "its path is not absolute");
        }

        return new DiskUri(kind, path, ParseProfile(uri, kind, query));
    }

    /// <inheritdoc/>
    public override string ToString() =>
        $"{Kind.ToString().ToLowerInvariant()}:{Encode(Path)}{(Kind == DiskKind.Emulated ? $"?{ProfileQuery}{Profile}" : "")}";

    private static string ParseProfile(string uri, DiskKind kind, string query)
    {
        bool hasProfile = query.StartsWith(ProfileQuery, StringComparison.OrdinalIgnoreCase) && query.Length > ProfileQuery.Length;
        return (kind, query) switch
        {
            (DiskKind.Emulated, _) when hasProfile => query[ProfileQuery.Length..],
            (DiskKind.Emulated, _) => throw Unsuitable(uri, "an emulated disk needs '?profile=' and the name of a latency profile"),
            (_, "") => string.Empty,
            _ => throw Unsuitable(uri, "only an emulated disk takes a query; write '?' in a path as %3F"),
        };
    }

    private static string Encode(string path)
    {
        System.Text.StringBuilder text = new(path.Length);
        foreach (char character in path)
        {
            text.Append(character is '%' or '?' or < ' ' ? $"%{(int)character:X2}" : character);
        }

        return text.ToString();
    }

    private static string Decode(string uri, string path)
    {
        for (int index = path.IndexOf('%'); index >= 0; index = path.IndexOf('%', index + 1))
        {
            if (index + 2 >= path.Length || !char.IsAsciiHexDigit(path[index + 1]) || !char.IsAsciiHexDigit(path[index + 2]))
            {
                throw Unsuitable(uri, "a '%' in it is not followed by two hexadecimal digits; write '%' in a path as %25");
            }
        }

        return Uri.UnescapeDataString(path);
    }

    private static DiskOpenException Unsuitable(string uri, string why) => new(
        DiskOpenFailure.Unsuitable, $"'{uri}' names no disk: {why}. Use file:/path, block:/dev/x or emulated:/path?profile=HDD7200.");
}

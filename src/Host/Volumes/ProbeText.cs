namespace TierSpaces.Host.Volumes;

/// <summary>Reads the output of <c>blkid --output export</c>: lines NAME=value, an empty line between devices, values with backslashes before blanks.</summary>
internal static class ProbeText
{
    /// <summary>Returns the values by device and name.</summary>
    public static Dictionary<string, Dictionary<string, string>> Parse(string text)
    {
        Dictionary<string, Dictionary<string, string>> devices = [];
        Dictionary<string, string> current = [];
        foreach (string line in text.Split('\n'))
        {
            int sign = line.IndexOf('=', StringComparison.Ordinal);
            if (sign > 0 && line[..sign] == "DEVNAME")
            {
                current = [];
                devices[line[(sign + 1)..]] = current;
            }
            else if (sign > 0)
            {
                current[line[..sign]] = Unescaped(line[(sign + 1)..]);
            }
        }

        return devices;
    }

    private static string Unescaped(string value)
    {
        System.Text.StringBuilder text = new System.Text.StringBuilder();
        for (int i = 0; i < value.Length; i++)
        {
            i += value[i] == '\\' && i + 1 < value.Length ? 1 : 0;
            text.Append(value[i]);
        }

        return text.ToString();
    }
}

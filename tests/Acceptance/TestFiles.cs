using System.Security.Cryptography;

namespace TierSpaces.Acceptance;

/// <summary>Random files and their checksums, and what compares files.</summary>
internal static class TestFiles
{
    /// <summary>Writes files of odd sizes up to 700 KB; returns name and SHA-256 of each.</summary>
    internal static Dictionary<string, string> Write(string folder, int seed, int count = 40)
    {
        Random random = new(seed);
        Dictionary<string, string> sums = [];
        Directory.CreateDirectory(folder);
        for (int i = 0; i < count; i++)
        {
            byte[] content = new byte[random.Next(1, 700_000)];
            random.NextBytes(content);
            string name = $"file-{seed}-{i}";
            File.WriteAllBytes(Path.Combine(folder, name), content);
            sums.Add(name, Convert.ToHexString(SHA256.HashData(content)));
        }

        return sums;
    }

    /// <summary>Every file is there with the bytes that were written.</summary>
    internal static void Check(string folder, Dictionary<string, string> sums)
    {
        Assert.All(sums, pair => Assert.Equal(pair.Value, SumOf(Path.Combine(folder, pair.Key))));
    }

    /// <summary>An image with some data, some zeros, some holes.</summary>
    internal static string WriteImage(string path, long length, int seed)
    {
        Random random = new(seed);
        using FileStream file = File.Create(path);
        file.SetLength(length);
        byte[] data = new byte[1 << 20];
        for (int i = 0; i < 24; i++)
        {
            random.NextBytes(data);
            file.Position = random.NextInt64((length - data.Length) / 4096) * 4096;
            file.Write(data);
        }

        return path;
    }

    internal static string SumOf(string path)
    {
        using FileStream file = File.OpenRead(path);
        return Convert.ToHexString(SHA256.HashData(file));
    }
}

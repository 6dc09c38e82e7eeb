using System.Globalization;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.PowerCuts;

/// <summary>
/// Files of a mounted file system under a load: written under another name, synced, renamed, or deleted, and the folder synced after each step. After a cut
/// each name has its last synced version, or that of the step that was under way, whole.
/// </summary>
internal sealed class FileTree(string name, int writer, string folder)
{
    private const int Names = 24;
    private const int LargestFile = 200_000;
    private const string Unfinished = "unfinished";
    private const string Noise = "noise";

    private readonly ulong[] _versions = new ulong[Names];
    private (int Name, ulong Version)? _underWay;

    /// <summary>Files compared.</summary>
    internal long Compared { get; private set; }

    /// <summary>Takes over what the folder held, and what a load has done since: so many of its steps are durable, and the next one may be.</summary>
    internal void Load(string path, ulong seed, int boot, long durableSteps)
    {
        string[] lines = File.ReadAllLines(path);
        for (int i = 0; i < Names; i++)
        {
            _versions[i] = ulong.Parse(lines[i], CultureInfo.InvariantCulture);
        }

        long step = 0;
        foreach ((int Name, ulong Version) change in Steps(seed, boot))
        {
            if (step++ == durableSteps)
            {
                _underWay = change;
                break;
            }

            _versions[change.Name] = change.Version;
        }
    }

    internal void Save(string path)
    {
        using FileStream file = new(path, FileMode.Create);
        using StreamWriter text = new(file);
        foreach (ulong version in _versions)
        {
            text.WriteLine(version.ToString(CultureInfo.InvariantCulture));
        }

        text.Flush();
        file.Flush(flushToDisk: true);
    }

    /// <summary>Reads every file. The content found is the folder's from then on.</summary>
    /// <returns>The error, or null.</returns>
    internal string? Verify()
    {
        string? wrong = null;
        string[] strangers = [.. Directory.GetFileSystemEntries(folder).Select(Path.GetFileName).OfType<string>()
            .Where(static entry => entry is not (Unfinished or Noise or "lost+found") && !(int.TryParse(entry, out int number) && number is >= 0 and < Names))];
        for (int i = 0; i < Names && wrong is null; i++)
        {
            wrong = Judge(i);
        }

        _underWay = null;
        return strangers.Length > 0 ? $"{name}: there is a file that was never written: {string.Join(", ", strangers)}" : wrong;
    }

    /// <summary>Writes until the machine ends.</summary>
    internal void Write(ulong seed, int boot, FlushReport report)
    {
        long done = 0;
        File.Delete(PathOf(Unfinished));
        using FileStream noise = new(PathOf(Noise), FileMode.Create);   // never synced by itself
        foreach ((int file, ulong version) in Steps(seed, boot))
        {
            noise.Position = (long)(version * 7919 % 4_000_000);
            noise.Write(Content(version));
            if (version == 0 || IsDeletion(version))
            {
                File.Delete(PathOf(Text(file)));
            }
            else
            {
                using (FileStream target = new(PathOf(Unfinished), FileMode.Create))
                {
                    target.Write(Content(version));
                    target.Flush(flushToDisk: true);
                }

                File.Move(PathOf(Unfinished), PathOf(Text(file)), overwrite: true);
            }

            if (Libc.SyncFolder(folder) is not 0 and var error)
            {
                throw new IOException($"{name}: syncing the folder failed ({error})");
            }

            report.Write(writer, ++done);
        }
    }

    private IEnumerable<(int Name, ulong Version)> Steps(ulong seed, int boot)
    {
        Random random = new(WritePlan.Mix(seed, boot, writer));
        for (ulong number = 1; ; number++)
        {
            int file = random.Next(Names);
            bool isDeletion = random.Next(6) == 0;
            yield return (file, ((ulong)boot << 33) | (number << 1) | (isDeletion ? 1UL : 0));
        }
    }

    private string? Judge(int file)
    {
        byte[]? found = File.Exists(PathOf(Text(file))) ? File.ReadAllBytes(PathOf(Text(file))) : null;
        Compared++;
        if (Holds(found, _versions[file]))
        {
            return null;
        }

        if (_underWay is { } change && change.Name == file && Holds(found, change.Version))
        {
            _versions[file] = change.Version;
            return null;
        }

        return $"{name}: file {file} {(found is null ? "is missing" : $"has {found.Length} bytes and wrong content")}; synced: version {_versions[file]:x}"
            + (_underWay is { } other && other.Name == file ? $", under way: {other.Version:x}" : "");
    }

    private static bool Holds(byte[]? found, ulong version) =>
        found is null ? version == 0 || IsDeletion(version) : version != 0 && !IsDeletion(version) && found.AsSpan().SequenceEqual(Content(version));

    private static bool IsDeletion(ulong version) => (version & 1) == 1;

    private static byte[] Content(ulong version)
    {
        Random random = new((int)(version ^ (version >> 29)));
        byte[] content = new byte[random.Next(4) == 0 ? random.Next(LargestFile) : random.Next(12_000)];
        random.NextBytes(content);
        return content;
    }

    private string PathOf(string file) => Path.Combine(folder, file);

    private static string Text(int file) => file.ToString(CultureInfo.InvariantCulture);
}

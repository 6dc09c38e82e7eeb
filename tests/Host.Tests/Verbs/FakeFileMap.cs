using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Says of files where a test has put them.</summary>
internal sealed class FakeFileMap : IFileMap
{
    private readonly Dictionary<string, FilePlace> _places = [];

    /// <summary>Puts a file somewhere.</summary>
    public void Put(string path, string virtualDisk, params PinnedRange[] pieces) => _places[path] = new FilePlace(virtualDisk, pieces);

    public FilePlace Find(string path) =>
        _places.GetValueOrDefault(path)
            ?? throw new StorageException(StorageErrors.FileNotFound, $"-FilePath '{path}' cannot be opened by the host.", target: path);

    /// <summary>Every path with a file below it is a volume from the first byte of its virtual disk on, of 8 MiB.</summary>
    public VolumePlace FindVolume(string path, string parameter) =>
        _places.FirstOrDefault(place => place.Key.StartsWith(path + "/", StringComparison.Ordinal)).Value is { } place
        ? new VolumePlace(place.VirtualDisk, new PinnedRange(0, 8 << 20))
        : throw new StorageException(StorageErrors.FileNotFound, $"-{parameter} '{path}' cannot be opened by the host.", target: path);
}

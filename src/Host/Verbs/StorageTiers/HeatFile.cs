using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Tiering;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>
/// A file with the heat of a virtual disk: the blocks in which heat is saved on disks, each with a checksum, one behind the other (docs/on-disk-format.md).
/// It is written beside its place and moved there, so that there is a whole one or none.
/// </summary>
/// <param name="subsystem">The engine.</param>
/// <param name="disk">Virtual disk that heat is written of or read for.</param>
/// <param name="path">The file.</param>
internal sealed class HeatFile(StorageSubsystem subsystem, VirtualDiskStatus disk, string path)
{
    private readonly HeatFileBytes _bytes = new(
        path, "Path", $"-Path '{path}' cannot be imported into virtual disk '{disk.Description.FriendlyName}'.",
        "Export the heat again, or import it into a virtual disk that it fits.");

    private Guid Id => disk.Description.Id.Value;

    /// <summary>Refuses to write where something is, unless it is a file that is to be replaced.</summary>
    /// <exception cref="StorageException">There is, or its folder is not there.</exception>
    public void CheckFree(bool replaces)
    {
        if (Directory.Exists(path) || !Directory.Exists(Path.GetDirectoryName(path)))
        {
            throw new StorageException(
                StorageErrors.FileNotFound, $"-Path '{path}' is a folder or lies in none.", "Name a file in a folder that is there.", path);
        }

        if (Libc.StatusOfPath(path, follow: false, out FileStatus there) == 0)
        {
            _bytes.RequireRegular(there);
            if (!replaces)
            {
                throw new StorageException(StorageErrors.FileExists, $"-Path '{path}' exists.", "Name another file, or give -Force.", path);
            }
        }
    }

    /// <summary>Writes the file: under a name of its own in the same folder, then to its place.</summary>
    /// <param name="replaces">Whether a file that is there is replaced; otherwise one that came meanwhile stays.</param>
    /// <exception cref="StorageException">It cannot be written; what was there is there still.</exception>
    public async Task WriteAsync(bool replaces)
    {
        HeatExport export = await subsystem.Heat.ExportAsync(Id).ConfigureAwait(false);
        string part = Path.Combine(Path.GetDirectoryName(path)!, $".{Guid.NewGuid():N}.part");
        bool isMade = false;   // once true, this call owns the file of that name
        try
        {
            await using (FileStream file = new FileStream(part, FileMode.CreateNew, FileAccess.Write))
            {
                isMade = true;
                await WriteAsync(file, export).ConfigureAwait(false);
            }

            CheckFree(replaces);
            File.Move(part, path, replaces);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw _bytes.Unusable(e);
        }
        finally
        {
            if (isMade)
            {
                File.Delete(part);   // it is not there any more when all went well
            }
        }
    }

    /// <summary>Reads the file, all of it, for the virtual disk.</summary>
    /// <exception cref="StorageException">It cannot be read, is damaged, or does not fit the virtual disk.</exception>
    public async Task<HeatFileReader> ReadAsync()
    {
        HeatFileReader reader = await subsystem.Heat.ReaderAsync(Id).ConfigureAwait(false);
        await _bytes.ReadAsync(block => reader.Add(block), () => reader.IsWhole).ConfigureAwait(false);
        return reader;
    }

    /// <summary>The file as the object users see.</summary>
    public StorageTierHeatFileInfo ToInfo(HeatFileReader read) => new()
    {
        Path = path,
        VirtualDiskFriendlyName = disk.Description.FriendlyName,
        VirtualDiskUniqueId = Identifiers.OfVirtualDisk(Id),
        SourceUniqueId = Identifiers.OfVirtualDisk(read.Owner),
        SliceSize = (ulong)read.SliceBytes,
        HotSlices = (ulong)read.HotSlices,
        Size = (ulong)new FileInfo(path).Length,
        TimeWritten = new DateTime(read.UtcTicks, DateTimeKind.Utc),
    };

    private static async Task WriteAsync(FileStream file, HeatExport export)
    {
        for (byte[] piece = await export.NextAsync().ConfigureAwait(false); piece.Length > 0; piece = await export.NextAsync().ConfigureAwait(false))
        {
            await file.WriteAsync(piece).ConfigureAwait(false);
        }

        file.Flush(flushToDisk: true);
    }
}

using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>Takes a block of a file with heat; what is wrong with it, null when nothing is.</summary>
internal delegate string? TakeHeatBlock(ReadOnlySpan<byte> block);

/// <summary>Reads a file with heat, block by block, and says what is wrong with it.</summary>
/// <param name="path">The file.</param>
/// <param name="parameter">Parameter that named it.</param>
/// <param name="rejection">First sentence of the error of a file that does not fit.</param>
/// <param name="remedy">Advice.</param>
internal sealed class HeatFileBytes(string path, string parameter, string rejection, string remedy)
{
    /// <summary>Reads the file, all of it.</summary>
    /// <exception cref="StorageException">It cannot be read, is damaged, or is refused.</exception>
    public async Task ReadAsync(TakeHeatBlock take, Func<bool> isWhole)
    {
        try
        {
            if (Libc.StatusOfPath(path, follow: true, out FileStatus there) == 0)
            {
                RequireRegular(there);   // to open a pipe is to wait for who writes to it
            }

            await using FileStream file = File.OpenRead(path);
            byte[] block = new byte[HeatSnapshot.BlockSize];
            while (await file.ReadAtLeastAsync(block, block.Length, throwOnEndOfStream: false).ConfigureAwait(false) is > 0 and var length)
            {
                if (length < block.Length)
                {
                    throw Wrong("It ends in the middle.");
                }

                if (take(block) is { } trouble)
                {
                    throw Wrong(trouble);
                }
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw Unusable(e);
        }

        if (!isWhole())
        {
            throw Wrong("Its end is missing.");
        }
    }

    /// <summary>Refuses what is no regular file.</summary>
    /// <exception cref="StorageException">It is none.</exception>
    public void RequireRegular(in FileStatus status)
    {
        if (!status.IsRegularFile)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, $"-{parameter} '{path}' is no regular file, but a device, a pipe, a folder or a link.", "Name a regular file.", path);
        }
    }

    /// <summary>The error of a file that the host cannot use.</summary>
    public StorageException Unusable(Exception e) => new(
        e is FileNotFoundException or DirectoryNotFoundException ? StorageErrors.FileNotFound
        : e is UnauthorizedAccessException ? StorageErrors.AccessDenied
        : StorageErrors.InvalidParameter,
        $"-{parameter} '{path}' cannot be used by the host: {e.Message}",
        "Name a file in a folder that is there, which the host may use and whose file system has room.", path, e);

    private StorageException Wrong(string trouble) => new(StorageErrors.InvalidParameter, $"{rejection} {trouble}", remedy, path);
}

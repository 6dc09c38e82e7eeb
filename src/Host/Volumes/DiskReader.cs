using System.Collections.Concurrent;
using System.Globalization;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes;

/// <summary>
/// Reads what lies on a device: its partition table through <c>sfdisk</c>, its file systems through <c>blkid</c>. A device that does not answer in time is
/// shown with a fault, and is not asked again before the first question has ended: a hung disk costs each caller one time limit, not one for each verb.
/// </summary>
internal sealed class DiskReader(VolumeTools tools)
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(8);
    private readonly ConcurrentDictionary<string, Task<DiskContents>> _pending = new();

    /// <summary>Reads a device; the fault of the answer says why it could not be read.</summary>
    public async Task<DiskContents> ReadAsync(string device, long bytes, int sectorSize)
    {
        Task<DiskContents> reading = _pending.GetOrAdd(device, name => ReadNowAsync(name, bytes, sectorSize));
        try
        {
            return await reading.WaitAsync(s_limit).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            return new DiskContents { Fault = $"{device} does not answer." };
        }
        catch (StorageException e)
        {
            return new DiskContents { Fault = e.Error.OneLine };
        }
        finally
        {
            if (reading.IsCompleted)
            {
                _pending.TryRemove(new KeyValuePair<string, Task<DiskContents>>(device, reading));
            }
        }
    }

    /// <summary>Reads a device after a change: an answer to a question from before the change does not count.</summary>
    public async Task<DiskContents> ReadAgainAsync(string device, long bytes, int sectorSize)
    {
        if (_pending.TryGetValue(device, out Task<DiskContents>? before))
        {
            await Task.WhenAny(before, Task.Delay(s_limit)).ConfigureAwait(false);
            if (before.IsCompleted)
            {
                _pending.TryRemove(new KeyValuePair<string, Task<DiskContents>>(device, before));
            }
        }

        return await ReadAsync(device, bytes, sectorSize).ConfigureAwait(false);
    }

    /// <summary>Bytes of a block device as the kernel has it, which keeps its size while its virtual disk grows; null for what is no block device.</summary>
    public static long? SizeOf(string device)
    {
        const int unit = 512;   // of sysfs, whatever the sectors of the device are
        try
        {
            return long.Parse(File.ReadAllText($"/sys/class/block/{Path.GetFileName(device)}/size"), CultureInfo.InvariantCulture) * unit;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or FormatException)
        {
            return null;
        }
    }

    private async Task<DiskContents> ReadNowAsync(string device, long bytes, int sectorSize)
    {
        // A disk with partitions, as most are, is probed with them while its table is read: each program that is started costs some milliseconds.
        string[] nodes = [.. PartitionKernel.NodesOf(device).Where(File.Exists)];
        Task<ToolResult>? early = nodes.Length > 0 ? ListAsync(device) : null;
        Dictionary<string, Dictionary<string, string>> probed = await ProbeAsync([device, .. nodes]).ConfigureAwait(false);
        ToolResult? listed = early is null ? null : await early.ConfigureAwait(false);
        if (nodes.Length > 0 && !probed.ContainsKey(device))
        {
            (probed, nodes) = (await ProbeAsync(device).ConfigureAwait(false), []);   // the exit code is that of the last device
        }

        Dictionary<string, string> found = probed.GetValueOrDefault(device) ?? [];
        if (found.GetValueOrDefault("PTTYPE") is "gpt" or "dos" && !found.ContainsKey("TYPE"))
        {
            ToolResult table = listed ?? await ListAsync(device).ConfigureAwait(false);
            if (table.ExitCode != 0)
            {
                throw VolumeTools.Failure("sfdisk", table);
            }

            bool isGrown = table.Error.Contains("backup GPT table is not on the end of the device", StringComparison.Ordinal);
            DiskContents contents = PartitionTable.Parse(table.Output, device, SizeOf(device) ?? bytes, sectorSize, isGrown);
            return await WithFileSystemsAsync(contents, nodes, probed).ConfigureAwait(false);
        }

        FoundFileSystem? whole = FileSystemOf(found);
        return new DiskContents
        {
            Whole = whole,
            Foreign = whole is not null ? null : found.GetValueOrDefault("TYPE") ?? found.GetValueOrDefault("PTTYPE") ?? found.GetValueOrDefault("AMBIVALENT"),
        };
    }

    private Task<ToolResult> ListAsync(string device) =>
        tools.TryAsync("sfdisk", VolumeTools.Short, CancellationToken.None, "", "--json", device);

    /// <summary>The contents with the file systems of the partitions: those that were probed already, and those of the others.</summary>
    private async Task<DiskContents> WithFileSystemsAsync(DiskContents contents, string[] nodes, Dictionary<string, Dictionary<string, string>> probed)
    {
        string[] others = [.. contents.Partitions.Select(static partition => partition.Node).Where(node => !nodes.Contains(node) && File.Exists(node))];
        Dictionary<string, Dictionary<string, string>> more = others.Length == 0 ? [] : await ProbeAsync(others).ConfigureAwait(false);
        return contents with
        {
            Partitions = [.. contents.Partitions.Select(partition => partition with
            {
                FileSystem = FileSystemOf(probed.GetValueOrDefault(partition.Node) ?? more.GetValueOrDefault(partition.Node) ?? []),
            })],
        };
    }

    /// <summary>Values that blkid finds on devices, by device and name of the value.</summary>
    private async Task<Dictionary<string, Dictionary<string, string>>> ProbeAsync(params string[] devices)
    {
        const int nothingFound = 2;
        const int ambivalent = 8;
        ToolResult result = await tools.TryAsync("blkid", VolumeTools.Short, CancellationToken.None, "", ["--probe", "--output", "export", .. devices])
            .ConfigureAwait(false);
        if (result.ExitCode is not (0 or nothingFound or ambivalent))
        {
            throw VolumeTools.Failure("blkid", result);
        }

        Dictionary<string, Dictionary<string, string>> found = ProbeText.Parse(result.Output);
        if (result.ExitCode == ambivalent && devices is [var only] && !found.ContainsKey(only))
        {
            found[only] = new Dictionary<string, string> { ["AMBIVALENT"] = "several signatures that exclude each other" };
        }

        return found;
    }

    private static FoundFileSystem? FileSystemOf(Dictionary<string, string> found) =>
        found.GetValueOrDefault("USAGE") == "filesystem" && found.TryGetValue("TYPE", out string? type)
            ? new FoundFileSystem(
                type, found.GetValueOrDefault("LABEL") ?? "", found.GetValueOrDefault("UUID") ?? "",
                type is not ("xfs" or "ntfs") && uint.TryParse(found.GetValueOrDefault("BLOCK_SIZE"), CultureInfo.InvariantCulture, out uint size) ? size : 0)
            : null;
}

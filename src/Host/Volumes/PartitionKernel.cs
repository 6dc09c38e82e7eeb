using System.Diagnostics;
using System.Globalization;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes;

/// <summary>Tells the kernel of changed partitions (<c>partx</c>), and waits for their devices. Works while other partitions of the disk are mounted.</summary>
internal sealed class PartitionKernel(VolumeTools tools)
{
    private static readonly TimeSpan s_nodePatience = TimeSpan.FromSeconds(5);

    /// <summary>Devices of the partitions that the kernel shows of a disk, whatever its table says now.</summary>
    public static string[] NodesOf(string device)
    {
        string name = Path.GetFileName(device);
        string folder = $"/sys/block/{name}";
        return !Directory.Exists(folder) ? []
            : [.. Directory.EnumerateDirectories(folder, name + "*").Select(path => Path.Combine(Path.GetDirectoryName(device)!, Path.GetFileName(path)))];
    }

    /// <summary>Adds a partition and waits for its device.</summary>
    public async Task AddAsync(string device, VolumePartition partition)
    {
        await RunAsync("--add", device, partition.Number).ConfigureAwait(false);
        await WaitForAsync(partition.Node).ConfigureAwait(false);
    }

    /// <summary>Gives a partition its new size.</summary>
    public Task UpdateAsync(string device, int number) => RunAsync("--update", device, number);

    /// <summary>Removes a partition; refused while it is in use.</summary>
    /// <exception cref="StorageException">It is in use; nothing was changed.</exception>
    public async Task DeleteAsync(string device, VolumePartition partition)
    {
        if (!Exists(device, partition.Node))
        {
            return;
        }

        ToolResult result = await tools.TryAsync("partx", VolumeTools.Short, CancellationToken.None, "", "--delete", "--nr", Text(partition.Number),
            device).ConfigureAwait(false);
        if (result.ExitCode != 0)
        {
            throw new StorageException(StorageErrors.DeviceBusy, $"{partition.Node} is in use: {result.Error}", "End what uses it, then retry.",
                partition.Node);
        }
    }

    /// <summary>Makes the kernel's partitions those of the table: after a host died between writing the table and telling the kernel.</summary>
    public async Task SyncAsync(string device, IReadOnlyCollection<VolumePartition> partitions)
    {
        if (partitions.Count > 0)
        {
            await tools.TryAsync("partx", VolumeTools.Short, CancellationToken.None, "", "--update", device).ConfigureAwait(false);
        }

        foreach (VolumePartition partition in partitions)
        {
            await WaitForAsync(partition.Node).ConfigureAwait(false);
        }
    }

    private async Task RunAsync(string action, string device, int number)
    {
        ToolResult result = await tools.TryAsync("partx", VolumeTools.Short, CancellationToken.None, "", action, "--nr", Text(number),
            device).ConfigureAwait(false);
        if (result.ExitCode != 0)
        {
            throw new StorageException(
                StorageErrors.Failed, $"The kernel does not take partition {number} of {device}: {result.Error}", "Run Update-HostStorageCache, then retry.",
                    device);
        }
    }

    private static async Task WaitForAsync(string node)
    {
        for (Stopwatch watch = Stopwatch.StartNew(); !File.Exists(node); await Task.Delay(10).ConfigureAwait(false))
        {
            if (watch.Elapsed > s_nodePatience)
            {
                throw new StorageException(
                    StorageErrors.Failed, $"The device {node} does not appear.", "In a container, let /dev show the devices of the machine.", node);
            }
        }
    }

    private static bool Exists(string device, string node) => Directory.Exists($"/sys/block/{Path.GetFileName(device)}/{Path.GetFileName(node)}");

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}

using TierSpaces.Contracts;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Volumes;

/// <summary>
/// Frees a block device from its users, for those who asked for that by force. The order: (1) each file system on it is flushed; (2) it is unmounted, the last
/// mount first; one with open files is taken out of sight, and ends when they are closed; (3) swap on it is given up. Each step has a time limit, and a step
/// that fails does not keep the next one from its turn: the device goes away after this in any case.
/// </summary>
/// <param name="tools">Programs.</param>
internal sealed class DeviceRelease(VolumeTools tools)
{
    /// <summary>Frees a device, which may be gone.</summary>
    /// <returns>Remarks on steps that failed, for the user; empty if there are none.</returns>
    public async Task<IReadOnlyList<string>> ReleaseAsync(string device)
    {
        List<string> remarks = [];
        await UnmountAsync(device, static _ => true, remarks).ConfigureAwait(false);
        foreach (string swap in SwapsOn(device))
        {
            await TryAsync($"{swap} stays in use as swap", remarks, "swapoff", swap).ConfigureAwait(false);
        }

        return remarks;
    }

    /// <summary>Unmounts a device from some places, as above.</summary>
    /// <returns>Remarks on steps that failed, for the user; empty if there are none.</returns>
    public async Task<IReadOnlyList<string>> UnmountAsync(string device, Predicate<string> fromPlace)
    {
        List<string> remarks = [];
        await UnmountAsync(device, fromPlace, remarks).ConfigureAwait(false);
        return remarks;
    }

    private async Task UnmountAsync(string device, Predicate<string> fromPlace, List<string> remarks)
    {
        List<Mount> mounts = MountTable.Read();
        HashSet<string> paths = [.. NodesOf(device).SelectMany(node => MountTable.Of(mounts, node)).Select(static mount => mount.Path)];
        foreach (string path in mounts.Select(static mount => mount.Path).Where(path => paths.Contains(path) && fromPlace(path)).Reverse())
        {
            await UnmountAsync(device, path, remarks).ConfigureAwait(false);
        }
    }

    private async Task UnmountAsync(string device, string path, List<string> remarks)
    {
        await TryAsync($"{device}: what programs have written to {path} may not be flushed", remarks, "sync", "-f", path).ConfigureAwait(false);
        List<string> reasons = [];
        if (await TryAsync($"{path} was in use", reasons, "umount", path).ConfigureAwait(false)
            || await TryAsync($"{path} stays mounted", reasons, "umount", "-l", path).ConfigureAwait(false))
        {
            remarks.AddRange(reasons.Select(reason => $"{device}: {reason}. Requests of programs with open files on it fail from now on."));
            return;
        }

        remarks.AddRange(reasons.TakeLast(1).Select(reason => $"{device}: {reason}"));
    }

    private async Task<bool> TryAsync(string problem, List<string> remarks, string program, params string[] words)
    {
        try
        {
            ToolResult result = await tools.TryAsync(program, VolumeTools.Short, CancellationToken.None, "", words).ConfigureAwait(false);
            if (result.ExitCode == 0)
            {
                return true;
            }

            remarks.Add($"{problem} ({result.Error.TrimEnd('.')})");
        }
        catch (StorageException e)
        {
            remarks.Add($"{problem} ({e.Error.ExtendedInformation.TrimEnd('.')})");
        }

        return false;
    }

    private static IEnumerable<string> NodesOf(string device)
    {
        string name = Path.GetFileName(device), folder = $"/sys/block/{name}";
        return !Directory.Exists(folder) ? [device]
            : [device, .. Directory.GetDirectories(folder, name + "p*").Select(static part => $"/dev/{Path.GetFileName(part)}")];
    }

    private static string[] SwapsOn(string device) =>
        [.. File.ReadLines("/proc/swaps").Skip(1).Select(static line => line.Split(' ')[0]).Where(swap => BlockDevice.IsOn(swap, device))];
}

using System.CommandLine;
using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.CommandLine;

/// <summary>The commands that read closed member images and write nothing to them: no host takes part.</summary>
internal static class OfflineCommands
{
    /// <summary>inspect IMAGE…</summary>
    public static Command Inspect(Func<string, Func<Task<int>>, Task<int>> report)
    {
        Argument<string[]> images = new Argument<string[]>("image") { Description = "Member images or devices, closed.", Arity = ArgumentArity.OneOrMore };
        Command command = new Command("inspect", "Explains what is on member disks, without a host and without writing to them.") { images };
        command.SetAction((result, _) => report("inspect", () => InspectAsync(result.GetValue(images)!)));
        return command;
    }

    /// <summary>extract --disk NAME --to FILE IMAGE…</summary>
    public static Command Extract(Func<string, Func<Task<int>>, Task<int>> report)
    {
        Argument<string[]> images = new Argument<string[]>(
            "image") { Description = "Every member image that is there, closed.", Arity = ArgumentArity.OneOrMore };
        Option<string> disk = new Option<string>("--disk") { Description = "Friendly name or unique identifier of the virtual disk.", Required = true };
        Option<string> to = new Option<string>("--to") { Description = "File to write; nothing may be there.", Required = true };
        Option<bool> force = new Option<bool>("--force")
        {
            Description = "Reads copies that may be out of date, too, where no others are there: of disks that left the pool, and those marked stale.",
        };
        Command command = new Command(
            "extract", "Writes a virtual disk out of closed member images to a raw file. The images need not be a majority; what cannot be read is left out and listed.")
        {
            images, disk, to, force,
        };
        command.SetAction((result, _) => report(
            "extract", () => ExtractAsync(result.GetValue(images)!, result.GetValue(disk)!, result.GetValue(to)!, result.GetValue(force))));
        return command;
    }

    private static async Task<int> InspectAsync(string[] images)
    {
        using Lane lane = LaneFactory.CreateAsked("inspect", HostSettings.ReadBackend());
        await ReadAsync(async () =>
        {
            await Reader(lane).InspectAsync(Paths(images), Print).ConfigureAwait(false);
            return true;
        }).ConfigureAwait(false);
        return 0;
    }

    private static async Task<int> ExtractAsync(string[] images, string disk, string to, bool force)
    {
        FileStream target;
        try
        {
            target = new FileStream(to, FileMode.CreateNew, FileAccess.Write);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StorageException(StorageErrors.FileExists, $"--to '{to}': {e.Message}", "Name a file that does not exist.", to, e);
        }

        await using (target)
        {
            using Lane lane = LaneFactory.CreateAsked("extract", HostSettings.ReadBackend());
            OfflineExtract extract = await ReadAsync(() => Reader(lane).ExtractAsync(
                Paths(images), disk, force, (at, bytes) => Write(target, at, bytes))).ConfigureAwait(false);
            if (extract.Reason.Length > 0)
            {
                File.Delete(to);
                throw new StorageException(
                    StorageErrors.Failed, $"'{disk}' cannot be extracted: {extract.Reason}.", "Name every member image that is there.", disk);
            }

            foreach (string remark in extract.Remarks)
            {
                Console.Error.WriteLine($"WARNING: {remark}");
            }

            if (extract.Unread is [.., var last])
            {
                target.SetLength(Math.Max(target.Length, last.Offset + last.Length));
                foreach ((long offset, long length) in extract.Unread)
                {
                    Console.Error.WriteLine($"Not read: {SizeText.Exact(length)} at offset {SizeText.Offset(offset)}");
                }

                throw new StorageException(
                    StorageErrors.Failed,
                    $"{SizeText.Exact(extract.Unread.Sum(static range => range.Length))} of '{disk}' cannot be read and are zeros in {to}; they are listed above.",
                    force ? "Name every member image that is there." : "Name every member image that is there. --force reads copies that may be out of date, too.",
                    disk);
            }

            Console.Out.WriteLine($"{SizeText.Exact(target.Length)} of '{disk}' written to {to}.");
            return 0;
        }
    }

    /// <summary>Zeros stay holes.</summary>
    private static void Write(FileStream target, long at, ReadOnlyMemory<byte> bytes)
    {
        if (bytes.Span.ContainsAnyExcept((byte)0))
        {
            target.Position = at;
            target.Write(bytes.Span);
        }

        target.SetLength(Math.Max(target.Length, at + bytes.Length));
    }

    private static async Task<T> ReadAsync<T>(Func<Task<T>> read)
    {
        try
        {
            return await read().ConfigureAwait(false);
        }
        catch (DiskOpenException e)
        {
            throw new StorageException(
                e.Failure switch
                {
                    DiskOpenFailure.NotFound => StorageErrors.FileNotFound,
                    DiskOpenFailure.PermissionDenied => StorageErrors.AccessDenied,
                    DiskOpenFailure.InUse or DiskOpenFailure.StillHeld => StorageErrors.InUse,
                    _ => StorageErrors.Failed,
                },
                e.Message, inner: e);
        }
    }

    private static string[] Paths(string[] images) => Array.ConvertAll(images, Path.GetFullPath);

    private static OfflineReader Reader(Lane lane) => new(lane, new DiskFactory(), new PoolFormat());

    private static void Print(OfflinePool pool)
    {
        foreach (OfflineDisk disk in pool.Disks)
        {
            Console.Out.WriteLine($"{disk.Disk.Identity.Uri}: {disk.Content}");
            Print(disk.Details);
        }

        if (pool.FriendlyName.Length > 0)
        {
            int disks = pool.Disks.Count(static disk => disk.IsMember);
            Console.Out.WriteLine($"pool {pool.FriendlyName} ({pool.Format}): {disks} of its disks are here, {CountText.Of(pool.VirtualDisks.Count, "virtual disk")}");
            Print(pool.Details);
            Print(pool.VirtualDisks.Select(static disk => $"virtual disk {disk.FriendlyName}: {SizeText.Exact(disk.SizeBytes)}, {disk.Details}"));
        }

        foreach (string remark in pool.Remarks)
        {
            Console.Out.WriteLine(remark);
        }

        if (pool.Reason.Length > 0)
        {
            Console.Out.WriteLine($"Not opened: {pool.Reason}");
        }
    }

    private static void Print(IEnumerable<string> details)
    {
        foreach (string detail in details)
        {
            Console.Out.WriteLine($"  {detail}");
        }
    }
}

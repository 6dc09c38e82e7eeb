using System.CommandLine;
using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;

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
        Command command = new Command("extract", "Writes a virtual disk out of closed member images to a raw file.") { images, disk, to };
        command.SetAction((result, _) => report(
            "extract", () => ExtractAsync(result.GetValue(images)!, result.GetValue(disk)!, result.GetValue(to)!)));
        return command;
    }

    private static async Task<int> InspectAsync(string[] images)
    {
        using Lane lane = LaneFactory.Create("inspect");
        OfflinePool pool = await ReadAsync(() => OfflineReader.InspectAsync(lane, new DiskFactory(), Paths(images))).ConfigureAwait(false);
        foreach (PoolScan scan in pool.Scans)
        {
            Print(scan);
        }

        if (pool.State?.Pool is not null)
        {
            Print(pool.State);
        }

        if (pool.MetadataPages is { } pages)
        {
            Console.Out.WriteLine($"  metadata: {pages.Used} of {pages.Most} pages in use");
        }

        if (pool.Reason.Length > 0)
        {
            Console.Out.WriteLine($"Not opened: {pool.Reason}");
        }

        return 0;
    }

    private static async Task<int> ExtractAsync(string[] images, string disk, string to)
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
            using Lane lane = LaneFactory.Create("extract");
            OfflinePool pool = await ReadAsync(() =>
                OfflineReader.ExtractAsync(lane, new DiskFactory(), Paths(images), disk, (at, bytes) => Write(target, at, bytes)))
                .ConfigureAwait(false);
            if (pool.Reason.Length == 0)
            {
                Console.Out.WriteLine($"{target.Length} bytes of '{disk}' written to {to}.");
                return 0;
            }

            File.Delete(to);
            throw new StorageException(StorageErrors.Failed, $"'{disk}' cannot be extracted: {pool.Reason}.", "Name every member image that is there.", disk);
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

    private static async Task<OfflinePool> ReadAsync(Func<Task<OfflinePool>> read)
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

    private static void Print(PoolScan scan)
    {
        Console.Out.WriteLine($"{scan.Disk.Identity.Uri}: {scan.Kind}{(scan.Reason.Length > 0 ? $": {scan.Reason}" : "")}");
        if (scan.Label is { } label)
        {
            Console.Out.WriteLine($"  label       pool {label.Pool.Value}, disk {label.Number} ({label.Disk.Value}), {label.DiskBytes} bytes, slabs of {label.Slabs.DataBytes} bytes");
        }

        if (scan.Superblock is { } superblock)
        {
            Console.Out.WriteLine(
                $"  superblock  epoch {superblock.Epoch}, session {superblock.Session}, {(superblock.IsClean ? "stopped cleanly" : "not stopped cleanly")}, view of {superblock.View.Members.Length} disks");
        }
    }

    private static void Print(PoolState state)
    {
        Console.Out.WriteLine($"pool {state.Pool!.FriendlyName}: {state.Disks.Count} disks, {state.VirtualDisks.Count} virtual disks");
        foreach (DiskState disk in state.Disks.Values)
        {
            Console.Out.WriteLine($"  disk {disk.Description.Number} {disk.Description.FriendlyName}: {disk.UsedSlabs} of {disk.Description.SlabCount} slabs in use, {disk.Description.Usage}");
        }

        foreach (VirtualDiskDescription disk in state.VirtualDisks.Values)
        {
            int rows = disk.Parts.Sum(part => state.Space(part.DataSpace)?.MappedRows ?? 0);
            Console.Out.WriteLine(
                $"  virtual disk {disk.FriendlyName}: {disk.SizeBytes} bytes, {disk.ResiliencySettingName}, {disk.NumberOfColumns} columns, {disk.NumberOfDataCopies} copies, interleave {disk.Interleave}, {disk.ProvisioningType}, checksums {disk.Checksum}, {rows} rows");
        }
    }
}

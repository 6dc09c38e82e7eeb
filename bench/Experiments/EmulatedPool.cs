using TierSpaces.Bench.Tables;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Bench.Experiments;

/// <summary>
/// A pool of emulated disks in this process, on a lane of its own. Its disks are large and their images sparse, so that slabs have their largest size: a
/// row has as many disks as its virtual disk has columns, and what is written is at the beginning of a few slabs.
/// </summary>
internal sealed class EmulatedPool : IDisposable
{
    /// <summary>Bytes of each disk: 256 slabs of 256 MiB are less.</summary>
    internal const long DiskBytes = 300L << 30;

    /// <summary>Bytes of a virtual disk that one column of a row holds.</summary>
    internal const long ColumnBytes = SlabGeometry.LargestSlab;

    /// <summary>Bytes of a strip.</summary>
    internal const int Interleave = 256 << 10;

    private const int FillBytes = 1 << 20;

    private readonly HostState _state;
    private readonly Pool _pool;
    private readonly List<OpenVirtualDisk> _disks = [];
    private readonly List<EmulatedDisk> _members = [];

    /// <summary>Makes a pool of images in the folder.</summary>
    /// <param name="folder">Where the images are.</param>
    /// <param name="name">Begins the names of its files.</param>
    /// <param name="profile">Class of its disks.</param>
    /// <param name="count">Number of its disks, 1 to 240.</param>
    internal EmulatedPool(BackingFolder folder, string name, string profile, int count)
    {
        Lane = LaneFactory.Create(name);
        _state = new HostState(folder.File($"{name}-state"), folder.File($"{name}-memory"));
        string[] images = [.. Enumerable.Range(1, count).Select(number => folder.NewFile($"{name}{number}.img", DiskBytes))];
        _pool = OnLane(() => Make(images, profile));
    }

    /// <summary>Lane of the pool and its virtual disks.</summary>
    internal Lane Lane { get; }

    /// <summary>Number of its disks.</summary>
    internal int Disks => _members.Count;

    /// <summary>Seconds that the emulated disks lost because the machine was too slow or too busy for them, added over the disks.</summary>
    internal double LostSeconds => OnLane(() => LaneTask.FromResult(_members.Sum(member => member.LostNs) / 1e9));

    /// <summary>Makes a virtual disk with checksums and without a write cache, and writes parts of it.</summary>
    /// <param name="resiliency">Simple or Mirror.</param>
    /// <param name="columns">Columns, 1 to 64.</param>
    /// <param name="rows">Rows; each has <paramref name="columns"/> × 256 MiB.</param>
    /// <param name="written">Parts that are written, in whole mebibytes.</param>
    /// <exception cref="IOException">It cannot be made or written.</exception>
    internal OpenVirtualDisk NewDisk(string resiliency, int columns, int rows, IReadOnlyList<DiskPart> written) => OnLane(async () =>
    {
        VirtualDiskResult made = await VirtualDiskBuilder.Create(_pool, new VirtualDiskDescription
        {
            FriendlyName = $"{resiliency} {columns}",
            ResiliencySettingName = resiliency,
            SizeBytes = rows * columns * ColumnBytes,
            NumberOfColumns = (ushort)columns,
            NumberOfDataCopies = (ushort)(resiliency == "Mirror" ? 2 : 1),
            Interleave = Interleave,
        });
        OpenVirtualDisk disk = made.Disk ?? throw new IOException($"The virtual disk cannot be made: {made.Reason}.");
        _disks.Add(disk);
        IoBuffer buffer = Lane.Buffers.Rent(FillBytes);
        new Random(columns).NextBytes(buffer.Span);
        foreach (DiskPart part in written)
        {
            for (long at = part.Offset; at < part.Offset + part.Length; at += FillBytes)
            {
                EngineArm.Require(await disk.Disk.Write(at, buffer, WriteFlags.None));
            }
        }

        Lane.Buffers.Return(buffer);
        EngineArm.Require(await disk.Disk.Flush());
        return disk;
    });

    /// <summary>Does something on the lane and waits for it.</summary>
    internal T OnLane<T>(Func<LaneTask<T>> work) => Lane.InvokeAsync(work).GetAwaiter().GetResult();

    public void Dispose()
    {
        OnLane(async () =>
        {
            foreach (OpenVirtualDisk disk in _disks)
            {
                await disk.Close();
            }

            await _pool.Close();
            return 0;
        });
        Lane.Dispose();
        _state.Dispose();
    }

    private async LaneTask<Pool> Make(string[] images, string profile)
    {
        DiskFactory factory = new();
        List<NewDiskSpec> members = [];
        foreach (string image in images)
        {
            members.Add(new NewDiskSpec(await Open(image), Path.GetFileNameWithoutExtension(image)));
        }

        PoolEnvironment environment = new(Lane, new StateFolder(Lane, _state), Lane.NewGuid());
        return await Pool.Create(environment, new NewPoolSpec { FriendlyName = "experiment" }, members);

        async LaneTask<IDisk> Open(string image)
        {
            IDisk disk = await factory.Open(Lane, new DiskUri(DiskKind.Emulated, image, profile).ToString(), new DiskOverrides());
            _members.Add((EmulatedDisk)disk);
            return disk;
        }
    }
}

/// <summary>A part of a virtual disk, in bytes.</summary>
internal readonly record struct DiskPart(long Offset, long Length);

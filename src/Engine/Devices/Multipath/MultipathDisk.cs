using TierSpaces.Engine.Devices.Raw;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

// A disk that is reached by several paths: block devices that the system shows for one piece of hardware, or a loop device and its image.
//
//   read                          the path with the fewest requests of this lane
//   write of whole 4096 bytes     the same
//   everything else               the first path that works: writes that share a block of 4096 bytes must not overtake each other below
//   a path fails                  the request is made again on the others. If one of them does it, the path was the cause: it is not used until the owner has
//                                 tried it (Try). If none does it, the error is that of the disk
//   a flush fails                 it is made again only if the path is gone. The failure of a flush is reported to every lane, as DeviceUsers says
//
// Invariants
//  1. A write is never under way on two paths: it is made again only after the first path has ended it.
//  2. The list of paths is replaced as a whole by the owner, and never changed. Each lane adopts it when the owner announces it, at the latest before its
//     next request; a handle asks the owner's lane for shares of paths that it does not have.
//  3. With one path a request goes straight to the device.

/// <summary>A member disk with one or several paths. The paths have the same hardware, and its owner adds and removes them while it serves.</summary>
internal sealed class MultipathDisk : IDisk
{
    internal const int PathsMax = 64;
    private const long SharedUnit = 4096;

    private readonly Common _common;
    private readonly List<MultipathDisk> _handles = [];   // of other lanes, open; on the owner's lane
    private DiskPath[] _adopted = [];
    private Use[] _uses = [];
    private FreeList<PathRequest> _free;
    private FlushFailures _reported;
    private bool _isAsking;
    private bool _isClosing;

    /// <summary>A disk with one path, on the lane that owns it.</summary>
    internal MultipathDisk(ILane lane, string uri, IDisk first)
    {
        Lane = lane;
        _common = new Common(this, [new DiskPath(uri, first)]);
        Adopt();
    }

    private MultipathDisk(ILane lane, Common common, DiskPath[] paths, DiskShare[] shares)
    {
        Lane = lane;
        _common = common;
        _adopted = paths;
        _uses = [.. paths.Select((path, number) => new Use(path, shares[number].Open(lane)))];
        _reported = common.Users.Failures;
        LanePosts.TryPost(common.Owner.Lane, () => common.Owner._handles.Add(this));
    }

    /// <inheritdoc/>
    public DiskIdentity Identity => _common.Identity;

    /// <inheritdoc/>
    public StoreGeometry Geometry => _common.Geometry;

    /// <inheritdoc/>
    public bool IsPresent => !_isClosing && Array.Exists(_common.Paths, static path => path.Disk.IsPresent);

    /// <inheritdoc/>
    public int InFlight
    {
        get
        {
            int sum = 0;
            foreach (Use use in _uses)
            {
                sum += use.Disk.InFlight;
            }

            return sum;
        }
    }

    /// <summary>The paths that are open.</summary>
    internal IReadOnlyList<DiskPath> Paths => _common.Paths;

    private ILane Lane { get; }

    private bool IsOwner => _common.Owner == this;

    /// <summary>Adds a path; the disk owns it from then on. Returns whether it did: not if the disk is closed, or the device is of another size.</summary>
    internal bool Add(string uri, IDisk disk)
    {
        if (_isClosing || !Fits(disk) || _common.Paths.Length == PathsMax)
        {
            return false;
        }

        Announce([.. _common.Paths, new DiskPath(uri, disk)]);
        return true;
    }

    /// <summary>Whether a device has the size and the sectors of the disk.</summary>
    internal bool Fits(IDisk disk) => disk.Geometry is var other
        && other.Length == Geometry.Length && other.BlockSize == Geometry.BlockSize && other.MaxTransfer >= Geometry.MaxTransfer;

    /// <summary>Removes a path that is not the last one, and closes it on every lane when its requests have ended.</summary>
    internal void Remove(DiskPath path)
    {
        if (_common.Paths.Length > 1)
        {
            Announce([.. _common.Paths.Where(other => other != path)]);
        }
    }

    /// <summary>Tries a path that has failed and is there, with one read. It is used again when that succeeds.</summary>
    internal async LaneTask<Nothing> Try(DiskPath path)
    {
        if (path.TryBegin())
        {
            IoBuffer block = Lane.Buffers.Rent(BufferPool.Alignment);
            if (await path.Disk.Read(0, block) == IoError.None)
            {
                path.NoteAnswer();
            }

            Lane.Buffers.Return(block);
            path.EndTry();
        }

        return default;
    }

    /// <inheritdoc/>
    public LaneTask<IoError> CheckPresence()
    {
        Use[] uses = Current();
        return uses.Length == 1 ? uses[0].Disk.CheckPresence() : CheckAll(uses);
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        Use[] uses = Current();
        if (uses.Length == 1)
        {
            return uses[0].Disk.Read(offset, target);
        }

        Use use = LeastBusy(uses);
        return Track(PathOperation.Read, offset, target.Length, target, WriteFlags.None, use, use.Disk.Read(offset, target));
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        Use[] uses = Current();
        if (uses.Length == 1)
        {
            return uses[0].Disk.Write(offset, source, flags);
        }

        Use use = ((offset | (long)source.Length) & (SharedUnit - 1)) == 0 ? LeastBusy(uses) : First(uses);
        return Track(PathOperation.Write, offset, source.Length, source, flags, use, use.Disk.Write(offset, source, flags));
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Flush()
    {
        Use use = First(Current());
        return Track(PathOperation.Flush, 0, 0, default, WriteFlags.None, use, use.Disk.Flush());
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length)
    {
        Use[] uses = Current();
        Use use = First(uses);
        return uses.Length == 1 ? use.Disk.Unmap(offset, length)
            : Track(PathOperation.Unmap, offset, length, default, WriteFlags.None, use, use.Disk.Unmap(offset, length));
    }

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags)
    {
        Use[] uses = Current();
        Use use = First(uses);
        return uses.Length == 1 ? use.Disk.WriteZeroes(offset, length, flags)
            : Track(PathOperation.Zero, offset, length, default, flags, use, use.Disk.WriteZeroes(offset, length, flags));
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) => First(Current()).Disk.Status(offset, length, extents);

    /// <inheritdoc/>
    public void Disconnect()
    {
        foreach (Use use in _uses)
        {
            use.Disk.Disconnect();
        }
    }

    /// <inheritdoc/>
    void IDisk.GuardCalls(ICallCondition? condition) => _common.GuardCalls(condition);

    /// <inheritdoc/>
    public DiskShare Share()
    {
        if (!IsOwner || _isClosing)
        {
            throw new InvalidOperationException($"{Identity.Uri}: only the owner of a disk shares it, while it is open.");
        }

        DiskPath[] paths = _common.Paths;
        DiskShare[] shares = ShareAll(paths);
        return new DiskShare(lane => new MultipathDisk(lane, _common, paths, shares), () => Array.ForEach(shares, static share => share.Dispose()));
    }

    /// <inheritdoc/>
    public async LaneTask Close()
    {
        if (_isClosing)
        {
            return;
        }

        _isClosing = true;
        foreach (Use use in _uses)
        {
            await use.Disk.Close();
        }

        if (!IsOwner)
        {
            LanePosts.TryPost(_common.Owner.Lane, () => _common.Owner._handles.Remove(this));
        }
    }

    internal void Return(PathRequest request) => _free.Return(request);

    /// <summary>Submits a request again, on another path.</summary>
    internal LaneTask<IoError> Submit(Use use, PathRequest request) => request.Operation switch
    {
        PathOperation.Read => use.Disk.Read(request.Offset, request.Buffer),
        PathOperation.Write => use.Disk.Write(request.Offset, request.Buffer, request.Flags),
        PathOperation.Flush => use.Disk.Flush(),
        PathOperation.Unmap => use.Disk.Unmap(request.Offset, request.Length),
        _ => use.Disk.WriteZeroes(request.Offset, request.Length, request.Flags),
    };

    /// <summary>Returns the path on which a request that has ended is made again; null: it has its answer.</summary>
    /// <param name="request">The request.</param>
    /// <param name="use">The path that it has taken.</param>
    /// <param name="error">Its result.</param>
    /// <param name="tried">Positions of paths on which it has failed.</param>
    internal Use? Next(PathRequest request, Use use, IoError error, ref ulong tried)
    {
        if (_isClosing || error == IoError.None || !PathErrors.MayBeOfPath(error, request.Operation, use.Path.Disk.IsPresent))
        {
            return null;
        }

        Use[] uses = _uses;
        int failed = Array.IndexOf(uses, use);
        tried |= failed < 0 ? 0 : 1UL << failed;
        for (int pass = 0; pass < 2; pass++)   // those that work first
        {
            for (int number = 0; number < uses.Length; number++)
            {
                if ((tried & (1UL << number)) == 0 && uses[number] != use && (pass == 1 || uses[number].Path.IsUsable))
                {
                    use.Path.NoteFailed();
                    return uses[number];
                }
            }
        }

        return null;
    }

    /// <summary>Returns the answer of a request whose last path has ended it.</summary>
    internal IoError Answer(PathOperation operation, Use use, IoError error, bool isRepeated)
    {
        if (error == IoError.None)
        {
            use.Path.NoteAnswer();
        }
        else if (isRepeated && error is IoError.Io or IoError.NoSpace)
        {
            AcquitAll();   // no path does it: it is the medium, or what is below all of them
        }

        if (operation != PathOperation.Flush)
        {
            return error;
        }

        if (error != IoError.None)
        {
            _common.Users.NoteFailedFlush(error);
            FlushFailures failures = _common.Users.Failures;
            _reported = error == IoError.NoSpace ? _reported with { Full = failures.Full } : failures;
            return error;
        }

        FlushFailures known = _common.Users.Failures;
        IoError other = _uses.Length == 1 ? IoError.None : known.ErrorSince(_reported);   // the device itself reports its failures to each of its users
        _reported = known;
        return other;
    }

    private LaneTask<IoError> Track(
        PathOperation operation, long offset, long length, IoBuffer buffer, WriteFlags flags, Use use, LaneTask<IoError> below)
    {
        if (below.IsCompleted && below.GetAwaiter().GetResult() is var done)
        {
            if (done == IoError.None || _uses.Length == 1)
            {
                return new LaneTask<IoError>(Answer(operation, use, done, isRepeated: false));
            }

            below = new LaneTask<IoError>(done);
        }

        PathRequest request = _free.Take() ?? new PathRequest(this);
        return request.Begin(operation, offset, length, buffer, flags, use, below);
    }

    /// <summary>Replaces the list of paths; every lane takes it over.</summary>
    private void Announce(DiskPath[] paths)
    {
        _common.Paths = paths;
        Adopt();
        foreach (MultipathDisk handle in _handles)
        {
            LanePosts.TryPost(handle.Lane, () => handle.Current());
        }
    }

    private async LaneTask<IoError> CheckAll(Use[] uses)
    {
        IoError answer = IoError.NoDevice;
        foreach (Use use in uses)
        {
            IoError error = await use.Disk.CheckPresence();
            answer = answer == IoError.None || error == IoError.None ? IoError.None : error;
        }

        return answer;
    }

    private Use[] Current()
    {
        if (_adopted != _common.Paths)
        {
            Adopt();
        }

        return _uses;
    }

    private static Use First(Use[] uses)
    {
        foreach (Use use in uses)
        {
            if (use.Path.IsUsable)
            {
                return use;
            }
        }

        return uses[0];
    }

    private Use LeastBusy(Use[] uses)
    {
        Use? least = null;
        bool isSpread = _common.IsSpread;
        foreach (Use use in uses)
        {
            if (use.Path.IsUsable && (least is null || (isSpread && (use.InFlight < least.InFlight
                || (use.InFlight == least.InFlight && use.Requests < least.Requests)))))
            {
                least = use;
            }
        }

        least ??= uses[0];
        least.Requests++;
        return least;
    }

    private void AcquitAll()
    {
        foreach (Use use in _uses)
        {
            if (use.Path.Disk.IsPresent)
            {
                use.Path.NoteAnswer();
            }
        }
    }

    /// <summary>Takes over the list of paths: those that left are closed, those that are new are opened, by the owner's lane.</summary>
    private void Adopt()
    {
        if (_isAsking || _isClosing)
        {
            return;
        }

        DiskPath[] paths = _common.Paths;
        DiskPath[] lacking = [.. paths.Where(path => !Array.Exists(_uses, use => use.Path == path))];
        if (IsOwner)
        {
            Replace(paths, lacking.Select(static path => new Use(path, path.Disk)));
        }
        else if (lacking.Length == 0)
        {
            Replace(paths, []);
        }
        else
        {
            Ask(paths, lacking);
        }
    }

    // A method of its own: what a lambda captures is allocated where its method begins.
    private void Ask(DiskPath[] paths, DiskPath[] lacking)
    {
        _isAsking = true;
        LanePosts.TryPost(_common.Owner.Lane, () => _common.Owner.ShareWith(this, paths, lacking));
    }

    private void Replace(DiskPath[] paths, IEnumerable<Use> added)
    {
        Use[] left = Array.FindAll(_uses, use => Array.IndexOf(paths, use.Path) < 0);
        Use[] uses = [.. _uses.Except(left), .. added];
        _adopted = paths;
        if (uses.Length == 0)
        {
            return;   // no share could be made of the new paths: the old ones are all there is
        }

        _uses = uses;
        Array.ForEach(left, static use => use.Disk.Close().Forget());
    }

    private void ShareWith(MultipathDisk handle, DiskPath[] seen, DiskPath[] lacking)
    {
        DiskPath[] paths = [.. lacking.Where(path => !_isClosing && Array.IndexOf(_common.Paths, path) >= 0)];
        DiskShare[] shares;
        try
        {
            shares = ShareAll(paths);
        }
        catch (DiskOpenException)
        {
            (paths, shares) = ([], []);   // the process has too many open files; the handle goes on with the paths that it has
        }

        LanePosts.TryPost(handle.Lane, () => handle.Take(seen, paths, shares));
    }

    private void Take(DiskPath[] seen, DiskPath[] paths, DiskShare[] shares)
    {
        _isAsking = false;
        if (_isClosing)
        {
            LanePosts.TryPost(_common.Owner.Lane, () => Array.ForEach(shares, static share => share.Dispose()));
            return;
        }

        Replace(seen, paths.Select((path, number) => new Use(path, shares[number].Open(Lane))));
    }

    private static DiskShare[] ShareAll(DiskPath[] paths)
    {
        List<DiskShare> shares = [];
        try
        {
            Array.ForEach(paths, path => shares.Add(path.Disk.Share()));
        }
        catch
        {
            shares.ForEach(static share => share.Dispose());
            throw;
        }

        return [.. shares];
    }

    /// <summary>A path as one lane uses it.</summary>
    internal sealed class Use(DiskPath path, IDisk disk)
    {
        internal DiskPath Path => path;

        internal IDisk Disk => disk;

        /// <summary>Requests of this lane that are under way on it.</summary>
        internal int InFlight { get; private set; }

        /// <summary>A request of this lane has begun on it.</summary>
        internal void Begin() => InFlight++;

        /// <summary>A request of this lane has ended on it.</summary>
        internal void End() => InFlight--;

        /// <summary>Requests of this lane that were given to it.</summary>
        internal long Requests { get; set; }
    }

    /// <summary>State that the lanes share.</summary>
    private sealed class Common(MultipathDisk owner, DiskPath[] paths)
    {
        private volatile DiskPath[] _paths = paths;
        private volatile ICallCondition? _condition;

        internal MultipathDisk Owner => owner;

        internal DeviceUsers Users { get; } = new();

        internal DiskIdentity Identity { get; } = paths[0].Disk.Identity;

        internal StoreGeometry Geometry { get; } = paths[0].Disk.Geometry;

        /// <summary>
        /// Whether requests are spread over the paths: only over those of one kind. A loop device caches its image, the image is accessed directly.
        /// </summary>
        internal bool IsSpread { get; private set; }

        internal DiskPath[] Paths
        {
            get => _paths;
            set
            {
                IsSpread = value.Select(static path => DiskKindOf(path.Uri)).Distinct().Count() == 1;
                _paths = value;
                GuardCalls(_condition);
            }
        }

        internal void GuardCalls(ICallCondition? condition)
        {
            _condition = condition;
            Array.ForEach(_paths, path => path.Disk.GuardCalls(condition));
        }

        private static string DiskKindOf(string uri) => uri[..uri.IndexOf(':')];
    }
}

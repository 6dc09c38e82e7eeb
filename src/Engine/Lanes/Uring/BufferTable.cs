using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Lanes.Uring;

/// <summary>
/// The ring's table of registered buffers: the memory of the lane's pool, stretch by stretch as the pool takes it from the system, so that the kernel
/// pins its pages once and not for each request. If the kernel has no table, or if it refuses a stretch (the table is full, the user may lock no more
/// memory), requests on that memory use addresses.
///
/// Invariant: a stretch begins and ends on a huge page and stays until the ring is closed, so the huge page that an address lies in
/// names its entry.
/// </summary>
internal sealed unsafe class BufferTable
{
    private const int Capacity = 1024;
    private const int PageShift = 21;

    private readonly Ring _ring;
    private readonly Dictionary<nint, int> _entryOfPage = [];
    private int _used;

    internal BufferTable(Ring ring)
    {
        _ring = ring;
        ResourceRegistration sparse = new() { Count = Capacity, Flags = ResourceRegistration.Sparse };
        _used = ring.Register(RingAbi.RegisterBuffers2, &sparse, (uint)sizeof(ResourceRegistration)) >= 0 ? 0 : Capacity;
    }

    /// <summary>Registers a stretch of memory, if the kernel takes it.</summary>
    internal void Add(nint memory, int length)
    {
        if (_used == Capacity || ((memory | length) & ((1 << PageShift) - 1)) != 0)
        {
            return;
        }

        IoVector stretch = new() { Base = (byte*)memory, Length = (nuint)length };
        ResourceUpdate update = new() { Offset = (uint)_used, Data = (ulong)(&stretch), Count = 1 };
        if (_ring.Register(RingAbi.RegisterBuffersUpdate, &update, (uint)sizeof(ResourceUpdate)) < 0)
        {
            _used = Capacity;   // what was refused once would be refused again, at the price of a system call
            return;
        }

        for (int page = 0; page < length >> PageShift; page++)
        {
            _entryOfPage[(memory >> PageShift) + page] = _used;
        }

        _used++;
    }

    /// <summary>The entry that holds this address, or -1.</summary>
    internal int Find(nint address) => _entryOfPage.TryGetValue(address >> PageShift, out int entry) ? entry : -1;
}

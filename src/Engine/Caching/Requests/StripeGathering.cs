using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// In front of parity a write that begins or ends within a stripe costs a record in the ring, and later a destage. Clients that write in sequence have the
// rest of that stripe under way too: its parts wait for each other, and the last one writes the stripe as a whole, past the ring.
//
// A part waits only if its request continues another one and what is under way could fill a stripe: writes at random never wait. It is let go, into the
// ring, when nothing is under way that does not wait, or after a time.
//
// Invariants
//  1. A part ends either with its stripe or with TryAgain, for the ring: never both.
//  2. The parts of a stripe do not overlap: each holds the lock of its range until it ends. Together they hold the stripe when it is full.
//  3. A stripe takes parts only until it is decided. Its slot is used again when every part of it has ended.

/// <summary>Gathers parts of stripes that are under way at the same time into writes of whole stripes.</summary>
internal sealed class StripeGathering
{
    private const int StripeMax = 4 << 20;           // larger ones are not gathered
    private const int SlotsMax = 16;                 // stripes at a time
    private const int PartsMax = 64;                 // of a stripe
    private const int RecentMax = 16;
    private const long GraceNs = 500_000;            // a client that was answered just now may send the rest
    private const long LongestWaitNs = 30_000_000;   // of a part
    private const long LookNs = 5_000_000;           // from one look at the waiting parts to the next

    private readonly ILane _lane;
    private readonly IBackingStore _backing;
    private readonly Admission _admission;
    private readonly BackingWrites _backingWrites;
    private readonly int _stripe;                    // 0: nothing is gathered
    private readonly Slot[] _slots;
    private readonly long[] _recentEnds = new long[RecentMax];   // of the last requests
    private int _nextRecent;
    private long _bytesUnderWay;                     // of requests
    private int _underWay;                           // parts, those that wait too
    private int _waiting;                            // parts that wait for the rest of their stripe
    private long _begun;                             // parts so far
    private bool _isLettingGo;                       // the grace runs
    private bool _isWatching;

    internal StripeGathering(CacheContext cache, Admission admission, BackingWrites backingWrites)
    {
        _lane = cache.Lane;
        _backing = cache.Backing;
        _admission = admission;
        _backingWrites = backingWrites;
        _stripe = _backing.StripeSize <= StripeMax ? _backing.StripeSize : 0;
        _slots = new Slot[_stripe > 0 ? SlotsMax : 0];
        Array.Fill(_recentEnds, long.MinValue / 2);
        for (int i = 0; i < _slots.Length; i++)
        {
            _slots[i] = new Slot();
        }
    }

    /// <summary>
    /// A request is under way. Returns whether its parts may wait: it continues another one, with no more than a stripe between them, and the others under
    /// way could fill a stripe.
    /// </summary>
    internal bool Begin(long offset, int length)
    {
        bool mayWait = _stripe > 0 && _bytesUnderWay >= _stripe && Continues(offset);
        _bytesUnderWay += length;
        _recentEnds[_nextRecent] = offset + length;
        _nextRecent = (_nextRecent + 1) % RecentMax;
        return mayWait;
    }

    /// <summary>A request has ended.</summary>
    internal void End(int length) => _bytesUnderWay -= length;

    /// <summary>A part of a request is under way.</summary>
    internal void BeginPart()
    {
        _begun++;
        _underWay++;
    }

    /// <summary>It has ended.</summary>
    internal void EndPart()
    {
        _underWay--;
        LetGoIfAllWait();
    }

    /// <summary>Whether a part that may wait is to: it belongs in the ring now, and its stripe as a whole does not.</summary>
    internal bool Wants(long offset, int length)
    {
        long stripe = offset / _stripe * _stripe;
        return length < _stripe && stripe + _stripe <= _backing.Length && _admission.ReasonFor(offset, length) == WriteReason.Cache
            && MayPassBy(stripe, out _);
    }

    /// <summary>
    /// Waits for the rest of the stripe of a write whose range is locked and reserved, and returns the outcome of the whole stripe; TryAgain when the rest did
    /// not come: the write belongs in the ring.
    /// </summary>
    internal async LaneTask<IoError> Join(long offset, IoBuffer source)
    {
        long stripe = offset / _stripe * _stripe;
        if (SlotOf(stripe) is not { } slot)
        {
            return IoError.TryAgain;
        }

        slot.Parts[slot.Count++] = (offset, source);
        slot.Bytes += source.Length;
        slot.Unended++;
        _waiting++;
        if (slot.Bytes == _stripe)
        {
            slot.IsOpen = false;
            _waiting -= slot.Count;   // they are written now
            slot.Outcome = await WriteStripe(slot);
            slot.Decided.NotifyAll();
        }
        else if (slot.Count == PartsMax)
        {
            LetGo(slot);
        }
        else
        {
            if (!_isWatching)
            {
                Watch().Forget();
            }

            LetGoIfAllWait();
            await slot.Decided.Wait();
        }

        IoError outcome = slot.Outcome;
        slot.Unended--;
        return outcome;
    }

    private bool Continues(long offset)
    {
        foreach (long end in _recentEnds)
        {
            if (Math.Abs(offset - end) <= _stripe)
            {
                return true;
            }
        }

        return false;
    }

    private bool MayPassBy(long stripe, out WriteReason reason)
    {
        reason = _admission.ReasonFor(stripe, _stripe);
        return _admission.MayPassBy(reason, stripe, _stripe);
    }

    /// <summary>The slot of a stripe that takes parts; null: every slot is in use.</summary>
    private Slot? SlotOf(long stripe)
    {
        Slot? free = null;
        foreach (Slot slot in _slots)
        {
            if (slot.IsOpen && slot.Stripe == stripe)
            {
                return slot;
            }

            free = !slot.IsOpen && slot.Unended == 0 ? slot : free;
        }

        free?.Open(stripe, _lane.NowNs);
        return free;
    }

    private async LaneTask<IoError> WriteStripe(Slot slot)
    {
        if (!MayPassBy(slot.Stripe, out WriteReason reason))
        {
            return IoError.TryAgain;
        }

        IoBuffer whole = _lane.Buffers.Rent(_stripe);
        foreach ((long offset, IoBuffer source) in slot.Parts.AsSpan(0, slot.Count))
        {
            source.Span.CopyTo(whole.Span[(int)(offset - slot.Stripe)..]);
        }

        IoError error = _backingWrites.NotePassed(await _backing.Write(slot.Stripe, whole, WriteFlags.None), reason, slot.Stripe, _stripe);
        _lane.Buffers.Return(whole);
        return error;
    }

    private void LetGo(Slot slot)
    {
        slot.IsOpen = false;
        slot.Outcome = IoError.TryAgain;
        _waiting -= slot.Count;
        slot.Decided.NotifyAll();
    }

    private void LetGoIfAllWait()
    {
        if (_waiting > 0 && _waiting == _underWay && !_isLettingGo)
        {
            LetGoAll().Forget();
        }
    }

    /// <summary>Every part under way waits: lets them go unless another one begins soon.</summary>
    private async LaneTask LetGoAll()
    {
        _isLettingGo = true;
        long begun;
        do
        {
            begun = _begun;
            await _lane.Delay(GraceNs);
        }
        while (begun != _begun && _waiting > 0 && _waiting == _underWay);

        _isLettingGo = false;
        bool allWait = _waiting == _underWay;
        foreach (Slot slot in _slots)
        {
            if (allWait && slot.IsOpen)
            {
                LetGo(slot);
            }
        }
    }

    /// <summary>Lets go what has waited for long, while anything waits.</summary>
    private async LaneTask Watch()
    {
        _isWatching = true;
        while (_waiting > 0)
        {
            await _lane.Delay(LookNs);
            foreach (Slot slot in _slots)
            {
                if (slot.IsOpen && _lane.NowNs - slot.OpenedNs >= LongestWaitNs - LookNs)
                {
                    LetGo(slot);
                }
            }
        }

        _isWatching = false;
    }

    /// <summary>A stripe that waits for its parts.</summary>
    private sealed class Slot
    {
        internal readonly (long Offset, IoBuffer Source)[] Parts = new (long, IoBuffer)[PartsMax];
        internal readonly LaneSignal Decided = new();
        internal long Stripe;     // where it begins
        internal long OpenedNs;   // when it took its first part
        internal bool IsOpen;     // takes parts
        internal int Count;       // of the parts
        internal int Bytes;       // of them
        internal int Unended;     // parts that have not gone on
        internal IoError Outcome;

        internal void Open(long stripe, long timeNs)
        {
            Stripe = stripe;
            OpenedNs = timeNs;
            IsOpen = true;
            Count = 0;
            Bytes = 0;
        }
    }
}

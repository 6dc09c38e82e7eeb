namespace TierSpaces.Engine.Primitives;

// Quarantine: memory that a device which does not answer may still read or write.
//
// A request can end for its owner before the device has ended it: its deadline passed, or another copy answered first. The
// device keeps the memory; the owner returns it to the pool as always. While no device keeps memory, this costs one comparison.
//
// Invariants
//  1. A buffer that overlaps quarantined memory is handed out only after the last of its keepers has released it.
//  2. If the data of a read is in another buffer than its caller asked for (Displace), Settle gives it to the caller, once.

/// <summary>Buffers of a pool in quarantine, and reads whose data is in another buffer than asked for.</summary>
internal sealed unsafe class KeptBuffers(BufferPool pool)
{
    private readonly List<(nint Start, int Length)> _kept = [];             // one entry per keeper
    private readonly List<(nint Pointer, int Class)> _waiting = [];         // returned while kept
    private readonly List<(IoBuffer Asked, IoBuffer Answer)> _displaced = [];

    /// <summary>Returned buffers in quarantine until a device releases them.</summary>
    internal int Waiting => _waiting.Count;

    /// <summary>Whether any memory is in quarantine.</summary>
    internal bool Any => _kept.Count > 0;

    /// <summary>Quarantines a returned buffer that a device still uses.</summary>
    internal void Wait(nint pointer, int index) => _waiting.Add((pointer, index));

    /// <summary>Quarantines memory that a device still uses although its request has ended.</summary>
    internal void Keep(IoBuffer memory) => _kept.Add(((nint)memory.Pointer, memory.Extent));   // of a striped buffer also what is between the strips

    /// <summary>Releases memory that <see cref="Keep"/> has quarantined: the device has answered.</summary>
    internal void LetGo(IoBuffer memory)
    {
        _kept.Remove(((nint)memory.Pointer, memory.Extent));
        for (int i = _waiting.Count - 1; i >= 0; i--)
        {
            (nint pointer, int index) = _waiting[i];
            if (!IsKept(pointer, BufferPool.Alignment << index))
            {
                _waiting.RemoveAt(i);
                pool.Free(pointer, index);
            }
        }
    }

    /// <summary>
    /// Records that the data of a read into <paramref name="asked"/>, which is in quarantine, is in <paramref name="answer"/>: a rented buffer of the
    /// same length that the pool takes over until <see cref="Settle"/>.
    /// </summary>
    internal void Displace(IoBuffer asked, IoBuffer answer) => _displaced.Add((asked, answer));

    /// <summary>
    /// Returns the buffer that holds the data of a read into <paramref name="target"/>: this buffer itself, or one that replaces it. The caller owns
    /// the result instead of <paramref name="target"/>, the whole of what it rented.
    /// </summary>
    internal IoBuffer Settle(IoBuffer target) => _displaced.Count == 0 ? target : SettleDisplaced(target);

    private IoBuffer SettleDisplaced(IoBuffer target)
    {
        IoBuffer settled = target;
        for (int i = _displaced.Count - 1; i >= 0; i--)
        {
            (IoBuffer asked, IoBuffer answer) = _displaced[i];
            long at = asked.Pointer - target.Pointer;
            if (at < 0 || at >= target.Length)
            {
                continue;
            }

            if (settled.Pointer == target.Pointer)
            {
                settled = target.MayBeKept ? pool.Rent(target.Length).AllowKeeping() : pool.Rent(target.Length);
                target.Span.CopyTo(settled.Span);
            }

            for (int number = 0; number < asked.Strips; number++)
            {
                IoBuffer strip = asked.Strip(number);
                answer.Slice(number * strip.Length, strip.Length).CopyTo(settled.Slice((int)(strip.Pointer - target.Pointer), strip.Length));
            }

            _displaced.RemoveAt(i);
            pool.Return(answer);
        }

        if (settled.Pointer != target.Pointer)
        {
            pool.Return(target);
        }

        return settled;
    }

    /// <summary>Whether a device may still reach into this memory.</summary>
    internal bool IsKept(nint start, int length)
    {
        foreach ((nint keptStart, int keptLength) in _kept)
        {
            if (keptStart < start + length && start < keptStart + keptLength)
            {
                return true;
            }
        }

        return false;
    }
}

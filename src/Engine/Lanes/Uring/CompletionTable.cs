namespace TierSpaces.Engine.Lanes.Uring;

/// <summary>
/// Table of the targets that wait for completions. The number of a place goes to the kernel with the request and comes back with its completion. Its
/// upper half counts the uses of the place, so that a stray completion is detected and reaches no other target.
/// </summary>
internal sealed class CompletionTable
{
    private struct Place
    {
        internal ICompletionTarget? Target;
        internal uint Use;
        internal int NextFree;
    }

    private Place[] _places = new Place[256];
    private int _firstFree = -1;
    private int _used;       // places ever handed out

    /// <summary>Places in use.</summary>
    internal int Count { get; private set; }

    internal ulong Add(ICompletionTarget target)
    {
        int index = _firstFree;
        if (index >= 0)
        {
            _firstFree = _places[index].NextFree;
        }
        else
        {
            index = _used++;
            if (index == _places.Length)
            {
                Array.Resize(ref _places, index * 2);
            }
        }

        Count++;
        ref Place place = ref _places[index];
        place.Target = target;
        return ((ulong)place.Use << 32) | (uint)index;
    }

    /// <summary>The target of a number; frees the place unless more completions follow.</summary>
    internal ICompletionTarget Take(ulong number, bool more)
    {
        int index = (int)(uint)number;
        ref Place place = ref _places[index];
        if (place.Use != (uint)(number >> 32) || place.Target is not { } target)
        {
            throw new InvalidOperationException($"Completion {number:x} belongs to no request.");
        }

        if (!more)
        {
            place.Target = null;
            place.Use++;
            place.NextFree = _firstFree;
            _firstFree = index;
            Count--;
        }

        return target;
    }
}

namespace TierSpaces.Engine.Primitives;

/// <summary>
/// Objects that are not in use, the last returned first. For what every request rents and returns: neither checks a type nor
/// counts versions as the general collections do.
/// </summary>
/// <typeparam name="T">Type of the objects.</typeparam>
internal struct FreeList<T>
    where T : class
{
    private Slot[]? _slots;
    private int _count;

    /// <summary>An object, or null when none is there.</summary>
    internal T? Take() => _count > 0 ? _slots![--_count].Item : null;

    internal void Return(T item)
    {
        if (_slots is null || _count == _slots.Length)
        {
            Array.Resize(ref _slots, Math.Max(16, _count * 2));
        }

        ref Slot slot = ref _slots[_count++];
        if (!ReferenceEquals(slot.Item, item))   // usually the slot still has it
        {
            slot.Item = item;
        }
    }

    private struct Slot   // arrays of references check what is stored into them
    {
        internal T? Item;
    }
}

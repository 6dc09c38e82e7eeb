using System.Numerics;

namespace TierSpaces.Engine.Pools;

/// <summary>
/// A sparse array that is never changed: setting an element gives a new array that shares all but one path with the old.
/// A leaf covers a fixed number of elements, so that two versions can be compared leaf by leaf by reference. Leaves and nodes end soon
/// after the last element that was set, so that a small array is small.
/// </summary>
/// <typeparam name="T">Type of the elements; absent ones read as its default.</typeparam>
internal sealed class PersistentArray<T>
{
    private const int Fanout = 64;
    private const int Step = 4;   // leaves and nodes grow by so many elements

    private readonly object? _root;   // T[] of at most LeafSize elements at height 0, else object?[] of at most Fanout children
    private readonly int _height;

    /// <summary>An empty array whose leaves hold <paramref name="leafSize"/> elements.</summary>
    internal PersistentArray(int leafSize)
        : this(leafSize, null, 0, 0)
    {
    }

    private PersistentArray(int leafSize, object? root, int height, int leafCount)
    {
        LeafCount = leafCount;
        LeafSize = leafSize;
        _root = root;
        _height = height;
    }

    /// <summary>Elements that a leaf covers.</summary>
    internal int LeafSize { get; }

    /// <summary>Leaves that exist.</summary>
    internal int LeafCount { get; }

    /// <summary>The element at an index, or the default where none was set.</summary>
    internal T? this[int index]
    {
        get
        {
            int leaf = index / LeafSize;
            int at = index % LeafSize;
            return leaf < Capacity(_height) && FindLeaf(_root, _height, leaf) is { } elements && at < elements.Length ? elements[at] : default;
        }
    }

    /// <summary>The leaf that an element belongs to, as far as it was ever set.</summary>
    internal ReadOnlySpan<T?> LeafOf(int index)
    {
        int leaf = index / LeafSize;
        return leaf < Capacity(_height) ? FindLeaf(_root, _height, leaf) : [];
    }

    /// <summary>This array with one element replaced.</summary>
    internal PersistentArray<T> Set(int index, T? value)
    {
        int leaf = index / LeafSize;
        object? root = _root;
        int height = _height;
        bool isNew = leaf >= Capacity(height) || FindLeaf(root, height, leaf) is null;
        while (leaf >= Capacity(height))
        {
            root = root is null ? null : Grown<object?>(null, 0, Fanout, root);
            height++;
        }

        return new PersistentArray<T>(LeafSize, SetIn(root, height, leaf, index % LeafSize, value), height, LeafCount + (isNew ? 1 : 0));
    }

    /// <summary>This array with a run of elements replaced, leaf by leaf.</summary>
    internal PersistentArray<T> SetRange(int first, ReadOnlySpan<T> values)
    {
        PersistentArray<T> array = this;
        while (values.Length > 0)
        {
            int count = Math.Min(values.Length, LeafSize - (first % LeafSize));
            array = array.Set(first + count - 1, values[count - 1]);   // the last one, so that the leaf has room for all
            values[..count].CopyTo(FindLeaf(array._root, array._height, first / LeafSize)
                .AsSpan(first % LeafSize)!);   // its own copy, which no other array shares yet
            first += count;
            values = values[count..];
        }

        return array;
    }

    /// <summary>The leaves that exist, in order, each with its index; elements outside these leaves were never set.</summary>
    internal IEnumerable<(int Index, T?[] Elements)> Leaves() => LeavesIn(_root, _height, 0);

    private static long Capacity(int height) => 1L << (height * BitOperations.Log2(Fanout));

    private static int Slot(int leaf, int height) => (leaf >> ((height - 1) * BitOperations.Log2(Fanout))) & (Fanout - 1);

    private static T?[]? FindLeaf(object? node, int height, int leaf)
    {
        for (; height > 0 && node is object?[] children; height--)
        {
            int slot = Slot(leaf, height);
            node = slot < children.Length ? children[slot] : null;
        }

        return (T?[]?)node;
    }

    private object SetIn(object? node, int height, int leaf, int at, T? value)
    {
        if (height == 0)
        {
            return Grown((T?[]?)node, at, LeafSize, value);
        }

        object?[]? children = (object?[]?)node;
        int slot = Slot(leaf, height);
        object? child = slot < children?.Length ? children[slot] : null;
        return Grown(children, slot, Fanout, SetIn(child, height - 1, leaf, at, value));
    }

    /// <summary>A copy with one element replaced, which may lie behind its end.</summary>
    private static TElement[] Grown<TElement>(TElement[]? elements, int at, int most, TElement value)
    {
        int length = Math.Max(elements?.Length ?? 0, Math.Min(most, (at / Step * Step) + Step));
        TElement[] grown = new TElement[length];
        elements?.CopyTo(grown, 0);
        grown[at] = value;
        return grown;
    }

    private static IEnumerable<(int Index, T?[] Elements)> LeavesIn(object? node, int height, int index)
    {
        if (height == 0)
        {
            if (node is T?[] elements)
            {
                yield return (index, elements);
            }

            yield break;
        }

        if (node is not object?[] children)
        {
            yield break;
        }

        for (int i = 0; i < children.Length; i++)
        {
            foreach ((int Index, T?[] Elements) leaf in LeavesIn(children[i], height - 1, (index * Fanout) + i))
            {
                yield return leaf;
            }
        }
    }
}

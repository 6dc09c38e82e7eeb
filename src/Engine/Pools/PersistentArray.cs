using System.Numerics;

namespace TierSpaces.Engine.Pools;

/// <summary>
/// A sparse array that is never changed: setting an element gives a new array that shares all but one path with the old.
/// Leaves hold a fixed number of elements, so that two versions can be compared leaf by leaf by reference.
/// </summary>
/// <typeparam name="T">Type of the elements; absent ones read as its default.</typeparam>
internal sealed class PersistentArray<T>
{
    private const int Fanout = 64;

    private readonly object? _root;   // T[] at height 0, else object?[] of Fanout children
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

    /// <summary>Elements of a leaf.</summary>
    internal int LeafSize { get; }

    /// <summary>Leaves that exist.</summary>
    internal int LeafCount { get; }

    /// <summary>The element at an index, or the default where none was set.</summary>
    internal T? this[int index]
    {
        get
        {
            int leaf = index / LeafSize;
            return leaf < Capacity(_height) && FindLeaf(_root, _height, leaf) is { } elements ? elements[index % LeafSize] : default;
        }
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
            object?[] above = new object?[Fanout];
            above[0] = root;
            root = above;
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
            array = array.Set(first, values[0]);
            values[..count].CopyTo(FindLeaf(array._root, array._height, first / LeafSize).AsSpan(first % LeafSize)!);   // its own copy: nobody else has seen it
            first += count;
            values = values[count..];
        }

        return array;
    }

    /// <summary>The leaves that exist, in order, each with its index.</summary>
    internal IEnumerable<(int Index, T?[] Elements)> Leaves() => LeavesIn(_root, _height, 0);

    private static long Capacity(int height) => 1L << (height * BitOperations.Log2(Fanout));

    private static int Slot(int leaf, int height) => (leaf >> ((height - 1) * BitOperations.Log2(Fanout))) & (Fanout - 1);

    private static T?[]? FindLeaf(object? node, int height, int leaf)
    {
        for (; height > 0 && node is object?[] children; height--)
        {
            node = children[Slot(leaf, height)];
        }

        return (T?[]?)node;
    }

    private object SetIn(object? node, int height, int leaf, int at, T? value)
    {
        if (height == 0)
        {
            T?[] elements = node is T?[] old ? (T?[])old.Clone() : new T?[LeafSize];
            elements[at] = value;
            return elements;
        }

        object?[] children = node is object?[] existing ? (object?[])existing.Clone() : new object?[Fanout];
        int slot = Slot(leaf, height);
        children[slot] = SetIn(children[slot], height - 1, leaf, at, value);
        return children;
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

        for (int i = 0; i < Fanout; i++)
        {
            foreach ((int Index, T?[] Elements) leaf in LeavesIn(children[i], height - 1, (index * Fanout) + i))
            {
                yield return leaf;
            }
        }
    }
}

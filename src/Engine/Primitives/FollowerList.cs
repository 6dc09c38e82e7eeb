using System.Runtime.CompilerServices;

namespace TierSpaces.Engine.Primitives;

// A doubly linked list whose links lie in its nodes: entering and leaving allocate nothing, and a node leaves from the middle without a search.
//
// Invariants
//  1. A node is in at most one list, and all nodes of a list are of type T.
//  2. A node outside a list refers to no other node, so a pooled node keeps nothing alive.

/// <summary>Work in flight in the order in which it began, oldest first.</summary>
/// <typeparam name="T">Type of the nodes.</typeparam>
internal struct FollowerList<T>
    where T : LinkedFollower
{
    private LinkedFollower? _oldest;
    private LinkedFollower? _newest;

    /// <summary>The node that entered first; null while the list is empty.</summary>
    internal readonly T? Oldest => Unsafe.As<T>(_oldest);

    /// <summary>The node that entered after <paramref name="node"/>; null for the newest.</summary>
    internal static T? After(T node) => Unsafe.As<T>(node.Newer);

    /// <summary>Appends a node that is in no list.</summary>
    internal void Add(T node)
    {
        Invariant.That(!node.IsLinked, "A node enters one list at a time.");
        node.LinkAfter(_newest);
        _oldest ??= node;
        _newest = node;
    }

    /// <summary>Takes a node of this list out.</summary>
    internal void Remove(T node)
    {
        Invariant.That(node.IsLinked, "Only a node that is in a list leaves it.");
        if (node.Older is null)
        {
            _oldest = node.Newer;
        }

        if (node.Newer is null)
        {
            _newest = node.Older;
        }

        node.Unlink();
    }
}

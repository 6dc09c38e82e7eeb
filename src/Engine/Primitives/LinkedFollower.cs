namespace TierSpaces.Engine.Primitives;

/// <summary>A follower that may be in a <see cref="FollowerList{T}"/>. Its links are the list's.</summary>
internal abstract class LinkedFollower : Follower
{
    internal LinkedFollower? Older { get; private set; }

    internal LinkedFollower? Newer { get; private set; }

    internal bool IsLinked { get; private set; }

    /// <summary>Enters a list behind its newest node; null: the list is empty.</summary>
    internal void LinkAfter(LinkedFollower? newest)
    {
        (IsLinked, Older) = (true, newest);
        if (newest is not null)
        {
            newest.Newer = this;
        }
    }

    /// <summary>Leaves the list; its neighbours follow each other.</summary>
    internal void Unlink()
    {
        if (Older is { } older)
        {
            older.Newer = Newer;
        }

        if (Newer is { } newer)
        {
            newer.Older = Older;
        }

        (Older, Newer, IsLinked) = (null, null, false);
    }
}

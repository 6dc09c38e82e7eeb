namespace TierSpaces.Engine.Primitives;

/// <summary>A follower that may be in a <see cref="FollowerList{T}"/>. Its links are the list's.</summary>
internal abstract class LinkedFollower : Follower
{
    internal LinkedFollower? Older { get; set; }

    internal LinkedFollower? Newer { get; set; }

    internal bool IsLinked { get; set; }
}

namespace TierSpaces.Engine.Lanes;

/// <summary>A request slot that a lane tells about its completion.</summary>
internal interface ICompletionTarget
{
    /// <summary>
    /// Called on the lane, never from within the submitting call. <paramref name="result"/> is a count or a negative
    /// errno; <paramref name="more"/> says that the same request will complete again.
    /// </summary>
    void OnCompletion(int result, bool more);
}

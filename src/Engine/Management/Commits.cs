using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Management;

/// <summary>Turns failed commits into errors of verbs.</summary>
internal static class Commits
{
    /// <summary>Throws if the commit of a verb failed.</summary>
    /// <param name="result">Outcome of the commit.</param>
    /// <param name="what">Name of the object that was to be changed.</param>
    internal static void Require(CommitResult result, string what)
    {
        if (!result.Succeeded)
        {
            throw new ManagementException(
                result.Status switch
                {
                    CommitStatus.NoSpace => ManagementError.NotEnoughCapacity,
                    CommitStatus.Refused => ManagementError.InvalidParameter,
                    _ => ManagementError.PoolStateForbids,
                },
                $"'{what}': {result.Reason}");
        }
    }
}

namespace TierSpaces.Host.Supervision;

/// <summary>Copies of descriptors that outlive the host, each under the identifier of a virtual disk.</summary>
internal interface IKeptDescriptors
{
    /// <summary>Hands a copy of a descriptor over to be kept, instead of an earlier one of that name.</summary>
    /// <returns>False: it is not kept.</returns>
    bool TryKeep(string id, int descriptor);

    /// <summary>Returns a descriptor that is kept, to be closed by the caller; -1 when there is none.</summary>
    int Take(string id);

    /// <summary>Ends the keeping of a descriptor.</summary>
    void Drop(string id);
}

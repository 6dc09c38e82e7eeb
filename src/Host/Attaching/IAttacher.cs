namespace TierSpaces.Host.Attaching;

/// <summary>
/// One way to make a block device of an NBD export. The device outlives the host: it depends on no process of the host's tree.
/// A later host finds and detaches it by its record.
/// </summary>
internal interface IAttacher
{
    /// <summary>Name in records and objects.</summary>
    string Method { get; }

    /// <summary>Time that requests of its devices wait while no host serves them, for people: <c>for 60 s</c>.</summary>
    string Patience { get; }

    /// <summary>Returns the reason why the method cannot be used on this machine, with the remedy; null when it can.</summary>
    string? Obstacle();

    /// <summary>Makes the device.</summary>
    /// <param name="target">Export to attach.</param>
    /// <param name="folder">A folder of its own, empty, that stays until it is detached.</param>
    /// <exception cref="AttachException">The attachment failed; nothing is left behind.</exception>
    AttachRecord Attach(AttachTarget target, string folder);

    /// <summary>Whether everything the record lists is still there.</summary>
    bool IsIntact(AttachRecord record);

    /// <summary>Whether requests of a device are answered now, as far as this host knows. Opening one that does not answer may take until it does.</summary>
    bool Answers(AttachRecord record) => true;

    /// <summary>Takes over an intact device when a new host serves its export again.</summary>
    void Resume(AttachRecord record, AttachTarget target);

    /// <summary>Gives a device, in use or not, the size that its disk has now. False: this method makes a new device instead.</summary>
    /// <exception cref="AttachException">The device keeps its size.</exception>
    bool TryResize(AttachRecord record) => false;

    /// <summary>Undoes what is there of the record; what is missing is not missed.</summary>
    void Detach(AttachRecord record);
}

/// <summary>A device could not be made; the message has the tool's own words.</summary>
internal sealed class AttachException(string message) : Exception(message);

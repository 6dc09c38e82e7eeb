namespace TierSpaces.Host.Verbs;

/// <summary>A command of the executable that a host answers on its management socket, and that is no verb.</summary>
internal interface IHostCommand
{
    /// <summary>Name on the socket.</summary>
    string Name { get; }

    /// <summary>Carries it out; it changes nothing. Request and reply are JSON.</summary>
    Task<byte[]> RunAsync(byte[] body, CancellationToken cancellation);
}

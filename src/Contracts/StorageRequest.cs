namespace TierSpaces.Contracts;

/// <summary>A verb with its parameters: what a cmdlet, a command or an HTTP body fills.</summary>
public abstract record StorageRequest;

/// <summary>A verb that answers with objects of one kind.</summary>
/// <typeparam name="TInfo">Kind of the objects.</typeparam>
public abstract record StorageRequest<TInfo> : StorageRequest
    where TInfo : class;

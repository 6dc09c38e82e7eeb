using System.Runtime.CompilerServices;

namespace TierSpaces.Engine.Primitives;

/// <summary>A client whose requests are in the stores of a lane.</summary>
internal interface IStoreClient
{
    /// <summary>Whether the client is gone for good: it takes no answers to its requests.</summary>
    bool HasEnded { get; }
}

// A change carries the number of its client through the layers, in its WriteFlags. A layer in which a change has waited checks whether the client is still
// there before the change begins. So a change that had not begun when its client ended is not carried out, and a change that did not wait costs nothing.
//
// Invariants
//  1. A number belongs to one client from Add until Remove. A client removes itself when the stores have ended its last request.
//  2. Number 0 is no client: changes of the engine itself are always carried out.

/// <summary>The clients of the stores of a lane, by number.</summary>
internal static class StoreClients
{
    private const int Shift = 8;               // of the number in WriteFlags
    private const int NumbersMax = 1 << 22;

    [ThreadStatic]
    private static IStoreClient?[]? s_clients;

    /// <summary>Gives a client its number, and returns the flags that carry it.</summary>
    internal static WriteFlags Add(IStoreClient client)
    {
        IStoreClient?[] clients = s_clients ??= new IStoreClient?[16];
        int number = Array.IndexOf(clients, null, 1);
        if (number < 0)
        {
            number = clients.Length;
            Invariant.That(number < NumbersMax, "The number of a client fits into the flags of its requests.");
            Array.Resize(ref s_clients, 2 * number);
        }

        s_clients[number] = client;
        return (WriteFlags)(number << Shift);
    }

    /// <summary>Takes the number back that flags carry.</summary>
    internal static void Remove(WriteFlags client) => s_clients![(int)client >> Shift] = null;

    /// <summary>The flags without the client: the change is carried out whatever becomes of the client.</summary>
    internal static WriteFlags WithoutClient(this WriteFlags flags) => flags & (WriteFlags)((1 << Shift) - 1);

    /// <summary>Whether the client of a change is gone.</summary>
    internal static bool HasEnded(WriteFlags flags) => (int)flags >> Shift is not 0 and var number && s_clients![number]!.HasEnded;

    /// <summary>Returns <see cref="IoError.Cancelled"/> for a change that has waited and whose client is gone; else <see cref="IoError.None"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static IoError AfterWait(bool hasWaited, WriteFlags flags) => hasWaited && HasEnded(flags) ? IoError.Cancelled : IoError.None;
}

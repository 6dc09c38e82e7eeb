using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// Slots and payload memory of the requests of one connection.
//
// Invariants
//  1. Both are bounded before memory is taken: slots by MaxRequests, bytes by MaxConnectionBytes and the budget of the lane. A full connection stops
//     reading, which the client's socket feels.
//  2. Memory is charged to the connection and the budget from its renting until it is returned, and returned before its slot.
//  3. A part has the memory of NbdParts, which the budget does not count again.

/// <summary>The slots and the payload memory that one connection holds.</summary>
internal sealed class NbdPayloads(NbdServer server, NbdExport export, NbdClaim claim, NbdParts parts, NbdLifetime life)
{
    /// <summary>Bytes of payload memory held now.</summary>
    internal long Bytes { get; private set; }

    /// <summary>Whether another request has a slot.</summary>
    internal bool HasSlot => claim.Requests < server.Limits.MaxRequests;

    private BufferPool Buffers => server.Lane.Buffers;

    /// <summary>Returns a slot with memory for a request; null when the connection has to wait for one of them.</summary>
    internal NbdRequest? TryRent(in NbdRequestHeader header, int bytes)
    {
        if (export.IsSuspended)
        {
            server.Budget.Leave(claim);   // no other connection queues behind one that is suspended
            return null;
        }

        bool isSmall = false;
        bool fits = HasSlot && Bytes + bytes <= server.Limits.MaxConnectionBytes && (bytes == 0 || server.Budget.TryTake(claim, bytes, out isSmall));
        return fits ? Rent(header, bytes > 0 ? RentBuffer(bytes, isSmall) : default, isSmall) : null;
    }

    /// <summary>Returns a slot for a request that is answered with an error: it needs no memory.</summary>
    internal NbdRequest RentEmpty(in NbdRequestHeader header) => Rent(header, default, isSmall: false);

    /// <summary>Returns a slot with memory for the next part of the request in parts.</summary>
    internal NbdRequest RentPart()
    {
        IoBuffer memory = Buffers.Rent(parts.NextBytes).AllowKeeping();   // first: if there is none, no part has begun
        NbdRequest part = server.RentRequest();
        parts.Begin(part, memory);
        claim.BeginRequest();
        Bytes += memory.Length;
        return part;
    }

    /// <summary>Returns the memory of a request, and its slot.</summary>
    internal void Release(NbdRequest request)
    {
        ReturnMemory(request);
        server.ReturnRequest(request);
        claim.EndRequest();
    }

    /// <summary>Returns the memory of a request, if it still has any.</summary>
    internal void ReturnMemory(NbdRequest request)
    {
        IoBuffer memory = request.TakeMemory();
        if (memory.Length == 0)
        {
            return;
        }

        Buffers.Return(memory);
        Bytes -= memory.Length;
        if (request.IsPart)
        {
            parts.Return();
            life.Wake();
        }
        else
        {
            server.Budget.Release(claim, memory.Length, request.IsSmall);
        }
    }

    private NbdRequest Rent(in NbdRequestHeader header, IoBuffer memory, bool isSmall)
    {
        NbdRequest request = server.RentRequest();
        request.Begin(header, memory, isSmall);
        claim.BeginRequest();
        Bytes += memory.Length;
        return request;
    }

    private IoBuffer RentBuffer(int bytes, bool isSmall)
    {
        try
        {
            return Buffers.Rent(bytes).AllowKeeping();
        }
        catch
        {
            server.Budget.Release(claim, bytes, isSmall);
            throw;
        }
    }
}

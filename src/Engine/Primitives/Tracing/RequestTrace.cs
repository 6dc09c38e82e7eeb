using System.Runtime.CompilerServices;

namespace TierSpaces.Engine.Primitives;

// The request that the code on this thread works for, and where it spends its time.
//
// A request is current from the moment an export gives it to its store until that call returns. Where it waits, an async method or a follower keeps its
// number and makes it current again when it goes on. A layer adds a span at the end of its work. So no layer passes numbers on. While nothing is traced,
// each of these places is one branch.
//
// Invariants
//  1. A number is current only while code runs for its request: who makes one current takes it back before it returns.
//  2. Spans go to the ring of the thread, if it has one, and to the event source, if it has listeners.

/// <summary>Traces of requests through the layers of the engine.</summary>
public static class RequestTrace
{
    private static int s_users;   // rings that record, and one for the event source while it has listeners
    private static long s_last;   // numbers given on all lanes

    [ThreadStatic]
    private static ulong s_current;

    [ThreadStatic]
    private static TraceRing? s_ring;

    [ThreadStatic]
    private static int s_sessions;

    /// <summary>Whether any request is traced now.</summary>
    internal static bool IsOn
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => s_users > 0;
    }

    /// <summary>Number of the request that this thread works for; 0: none that is traced.</summary>
    internal static ulong Current => s_current;

    /// <summary>Begins to record on the lane of the caller; ends with <see cref="End"/>. Several may record at once.</summary>
    public static TraceRing Begin()
    {
        s_sessions++;
        Interlocked.Increment(ref s_users);
        return s_ring ??= new TraceRing();
    }

    /// <summary>Ends what <see cref="Begin"/> has begun, on the same lane.</summary>
    public static void End()
    {
        Invariant.That(s_sessions > 0, "A trace of a lane is ended once.");
        s_ring = --s_sessions == 0 ? null : s_ring;
        Interlocked.Decrement(ref s_users);
    }

    /// <summary>The event source has its first listener, or none any more.</summary>
    internal static void NoteListeners(bool any) => Interlocked.Add(ref s_users, any ? 1 : -1);

    /// <summary>A number for a request that is traced from now on.</summary>
    internal static ulong NewNumber() => (ulong)Interlocked.Increment(ref s_last);

    /// <summary>Makes a request current and returns the one before.</summary>
    internal static ulong Enter(ulong request)
    {
        ulong before = s_current;
        s_current = request;
        return before;
    }

    /// <summary>Adds a span of a request; 0 is none.</summary>
    internal static void Add(
        ulong request, TraceLayer layer, long startNs, long endNs, byte operation = 0, long offset = -1, long length = 0, object? source = null)
    {
        if (request == 0)
        {
            return;
        }

        s_ring?.Add(new TraceSpan(request, layer, operation, startNs, endNs, offset, length, source));
        if (RequestEvents.Log.IsEnabled())
        {
            RequestEvents.Log.Layer(request, (int)layer, operation, endNs - startNs, offset, length);
        }
    }
}

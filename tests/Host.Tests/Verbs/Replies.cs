using TierSpaces.Host.Verbs;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Replies of verbs without a socket.</summary>
internal static class Replies
{
    /// <summary>Carries out a verb and returns the whole reply.</summary>
    internal static async Task<byte[]> AnswerAsync(this VerbDispatcher verbs, string verb, byte[] request, CancellationToken cancellation)
    {
        using MemoryStream answer = new MemoryStream();
        ReplyWriter reply = await verbs.RunAsync(verb, request, cancellation);
        await reply(new ReplyOutput(answer, static _ => { }), cancellation);
        return answer.ToArray();
    }
}

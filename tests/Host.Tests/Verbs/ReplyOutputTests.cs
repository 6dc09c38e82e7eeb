using System.Text.Json;
using TierSpaces.Contracts;
using TierSpaces.Host.Verbs;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>A reply is written in chunks while its objects are made, and has the bytes of one that is serialized at once.</summary>
public class ReplyOutputTests
{
    private long? _length;

    [Fact]
    public async Task A_short_reply_has_the_bytes_of_the_whole_and_says_its_length()
    {
        ReplyBuilder<PhysicalExtentInfo> reply = new ReplyBuilder<PhysicalExtentInfo>();
        reply.Add(Extent(1));
        reply.Stream([Extent(2)]);
        reply.Warn("über <b>");
        reply.Fail(new StorageException(StorageErrors.NotSupported, "no").Error);

        byte[] written = (await WriteAsync(reply)).SelectMany(static chunk => chunk).ToArray();

        VerbReply<PhysicalExtentInfo> whole = new VerbReply<PhysicalExtentInfo>
        {
            Objects = [Extent(1), Extent(2)], Warnings = ["über <b>"], Errors = [new StorageException(StorageErrors.NotSupported, "no").Error],
        };
        Assert.Equal(JsonSerializer.SerializeToUtf8Bytes(whole, ContractsJson.Default.VerbReplyPhysicalExtentInfo), written);
        Assert.Equal(written.Length, _length);
    }

    [Fact]
    public async Task An_empty_reply_has_the_bytes_of_the_whole()
    {
        byte[] written = Assert.Single(await WriteAsync(new ReplyBuilder<PhysicalExtentInfo>()));

        Assert.Equal(
            JsonSerializer.SerializeToUtf8Bytes(new VerbReply<PhysicalExtentInfo>(), ContractsJson.Default.VerbReplyPhysicalExtentInfo), written);
    }

    [Fact]
    public async Task Of_a_long_reply_no_more_than_a_chunk_is_made_ahead()
    {
        const int count = 20_000;
        int made = 0;
        List<int> madeBefore = [];
        ReplyBuilder<PhysicalExtentInfo> reply = new ReplyBuilder<PhysicalExtentInfo>();
        reply.Stream(Enumerable.Range(0, count).Select(number =>
        {
            made++;
            return Extent(number);
        }));

        List<byte[]> chunks = await WriteAsync(reply, () => madeBefore.Add(made));

        int most = chunks.Max(static chunk => chunk.Length);
        Assert.InRange(most, ReplyOutput.ChunkBytes, ReplyOutput.ChunkBytes + 1024);
        Assert.All(madeBefore.Zip(madeBefore.Skip(1)), static pair => Assert.InRange(pair.Second - pair.First, 0, ReplyOutput.ChunkBytes / 100));
        VerbReply<PhysicalExtentInfo> read = JsonSerializer.Deserialize(
            chunks.SelectMany(static chunk => chunk).ToArray(), ContractsJson.Default.VerbReplyPhysicalExtentInfo)!;
        Assert.Equal(Enumerable.Range(0, count).Select(static number => (ulong)number), read.Objects.Select(static extent => extent.VirtualDiskOffset));
        Assert.Null(_length);
    }

    [Fact]
    public async Task Objects_that_cannot_be_made_end_the_list_with_an_error()
    {
        ReplyBuilder<PhysicalExtentInfo> reply = new ReplyBuilder<PhysicalExtentInfo>();
        reply.Stream(Enumerable.Range(0, 3).Select(static number =>
            number < 2 ? Extent(number) : throw new StorageException(StorageErrors.NotSupported, "The third cannot be made.")));

        VerbReply<PhysicalExtentInfo> read = JsonSerializer.Deserialize(
            (await WriteAsync(reply)).SelectMany(static chunk => chunk).ToArray(), ContractsJson.Default.VerbReplyPhysicalExtentInfo)!;

        Assert.Equal(2, read.Objects.Length);
        Assert.Contains("The third cannot be made.", Assert.Single(read.Errors).ToString(), StringComparison.Ordinal);
    }

    private async Task<List<byte[]>> WriteAsync(ReplyBuilder<PhysicalExtentInfo> reply, Action? beforeChunk = null)
    {
        using ChunkList chunks = new ChunkList(beforeChunk);
        await reply.WriterOf(ContractsJson.Default.VerbReplyPhysicalExtentInfo)(
            new ReplyOutput(chunks, length => _length = length), TestContext.Current.CancellationToken);
        return chunks.Chunks;
    }

    private static PhysicalExtentInfo Extent(int number) => new PhysicalExtentInfo
    {
        VirtualDiskOffset = (ulong)number, PhysicalDiskUniqueId = "{disk}", OperationalStatus = ["OK"], OperationalDetails = [],
    };

    /// <summary>A stream that keeps each write by itself.</summary>
    private sealed class ChunkList(Action? before) : MemoryStream
    {
        internal List<byte[]> Chunks { get; } = [];

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            before?.Invoke();
            Chunks.Add(buffer.ToArray());
            return ValueTask.CompletedTask;
        }
    }
}

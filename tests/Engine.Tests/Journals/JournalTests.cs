using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Journals;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;

namespace TierSpaces.Engine.Tests.Journals;

/// <summary>A ring on one copy in memory whose unflushed blocks are kept or lost one by one.</summary>
public sealed class JournalTests
{
    private static readonly Guid s_owner = new(3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3);
    private readonly SimLane _lane = new(1);

    // All that was logged is elsewhere, and the tail moves up to the end. Of the two blocks written next, which both say so, the power cut
    // keeps the second alone: what it says of the first must not hide the blocks that are there.
    [Fact]
    public void A_tail_at_the_end_is_recovered_whichever_of_the_next_blocks_are_lost()
    {
        for (int kept = 0; kept < 8; kept++)
        {
            Ring ring = new(_lane);
            Journal journal = _lane.Run(Journal.Format(_lane.Buffers, ring, s_owner, 1))!;
            ulong durable = Append(journal, 3);
            Assert.Equal(IoError.None, _lane.Run(journal.Commit(durable)));
            journal.Trim(journal.Next);
            for (int i = 0; i < 3; i++)
            {
                Append(journal, 1);
                Assert.Equal(IoError.None, _lane.Run(journal.Write()));
            }

            ring.Cut(kept);
            JournalRecovery recovered = _lane.Run(JournalRecovery.Recover(_lane.Buffers, ring, s_owner, 2));
            Assert.True(recovered.State == JournalState.Recovered, $"kept {kept}: {recovered.State}");
            ulong whole = durable + (ulong)(kept == 7 ? 3 : (kept & 3) == 3 ? 2 : kept & 1);   // up to the first that was lost
            Assert.Equal(whole, recovered.Records[^1].Sequence);
        }
    }

    [Fact]
    public void The_tail_never_passes_the_newest_durable_block()
    {
        Ring ring = new(_lane);
        Journal journal = _lane.Run(Journal.Format(_lane.Buffers, ring, s_owner, 1))!;
        for (int i = 0; i < 200; i++)
        {
            Append(journal, 1 + _lane.Next(3));
            if (_lane.Next(2) == 0)
            {
                _lane.Run(journal.Commit(journal.Next - 1));
            }

            journal.Trim(Math.Max(journal.Tail, journal.Durable + 1));
            Assert.InRange(journal.Tail, journal.DurableTail, journal.Durable);
            Assert.Equal(IoError.None, _lane.Run(journal.CommitTail()));
        }
    }

    /// <summary>Records that fill a block each; the sequence of the last.</summary>
    private static ulong Append(Journal journal, int blocks)
    {
        ulong last = 0;
        for (int i = 0; i < blocks; i++)
        {
            journal.Reserve(JournalBlock.PayloadCapacity, out last).Fill(7);
        }

        return last;
    }

    private sealed class Ring(SimLane lane) : IJournalMedium
    {
        private readonly byte[] _durable = new byte[16 * JournalBlock.Size];
        private readonly List<(long Offset, byte[] Bytes)> _pending = [];

        public int Copies => 1;

        public int Blocks => _durable.Length / JournalBlock.Size;

        public async LaneTask<IoError> Read(int copy, long offset, IoBuffer target)
        {
            await lane.Delay(1000);
            _durable.AsSpan((int)offset, target.Length).CopyTo(target.Span);
            return IoError.None;
        }

        public async LaneTask<IoError> Write(long offset, IoBuffer source)
        {
            await lane.Delay(1000);
            for (int at = 0; at < source.Length; at += JournalBlock.Size)
            {
                _pending.Add((offset + at, source.Span.Slice(at, JournalBlock.Size).ToArray()));
            }

            return IoError.None;
        }

        public async LaneTask<IoError> Flush()
        {
            await lane.Delay(1000);
            Cut(-1);
            return IoError.None;
        }

        /// <summary>The power goes: of the blocks that no flush has covered those stay whose bits are set.</summary>
        internal void Cut(int kept)
        {
            for (int i = 0; i < _pending.Count; i++)
            {
                if ((kept >> i & 1) != 0)
                {
                    _pending[i].Bytes.CopyTo(_durable, _pending[i].Offset);
                }
            }

            _pending.Clear();
        }
    }
}

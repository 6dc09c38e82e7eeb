using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Verification;

namespace TierSpaces.Engine.Tests.Primitives;

// Every test runs on a thread of its own: what is kept is kept by thread.

public sealed unsafe class RecycledMemoryTests
{
    private const int Size = 1 << 20;

    [Fact]
    public void Memory_is_kept_within_a_scope_alone() => OnAThread(static () =>
    {
        TakeAndGiveBack(1);
        Assert.Equal(0, RecycledMemory.KeptBytes);
        using (RecycledMemory.Keep())
        {
            TakeAndGiveBack(2);
            Assert.Equal(2 * Size, RecycledMemory.KeptBytes);
            TakeAndGiveBack(2);
            Assert.Equal(2 * Size, RecycledMemory.KeptBytes);
        }

        Assert.Equal(0, RecycledMemory.KeptBytes);
    });

    [Fact]
    public void An_inner_scope_leaves_its_memory_to_the_outer_one() => OnAThread(static () =>
    {
        using (RecycledMemory.Keep())
        {
            using (RecycledMemory.Keep())
            {
                TakeAndGiveBack(1);
            }

            Assert.Equal(Size, RecycledMemory.KeptBytes);
        }

        Assert.Equal(0, RecycledMemory.KeptBytes);
    });

    [Fact]
    public void A_thread_keeps_no_more_than_its_bound() => OnAThread(static () =>
    {
        using RecycledMemory.Scope scope = RecycledMemory.Keep();
        TakeAndGiveBack(100);
        Assert.Equal(64 * Size, RecycledMemory.KeptBytes);
    });

    [Fact]
    public void Another_thread_keeps_its_own() => OnAThread(static () =>
    {
        using RecycledMemory.Scope scope = RecycledMemory.Keep();
        TakeAndGiveBack(1);
        OnAThread(static () => Assert.Equal(0, RecycledMemory.KeptBytes));
        Assert.Equal(Size, RecycledMemory.KeptBytes);
    });

    private static void TakeAndGiveBack(int count)
    {
        nint[] taken = new nint[count];
        for (int i = 0; i < count; i++)
        {
            taken[i] = (nint)RecycledMemory.Instance.Take(Size);
        }

        foreach (nint memory in taken)
        {
            RecycledMemory.Instance.GiveBack((byte*)memory, Size);
        }
    }

    private static void OnAThread(Action test)
    {
        Exception? failure = null;
        Thread thread = new(() => failure = Record.Exception(test));
        thread.Start();
        thread.Join();
        if (failure is not null)
        {
            throw new InvalidOperationException("On its thread the test failed.", failure);
        }
    }
}

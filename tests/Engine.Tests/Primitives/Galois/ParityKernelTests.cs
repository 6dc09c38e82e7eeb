using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Primitives;

/// <summary>Every kernel that this processor can run gives the bytes of the scalar one.</summary>
public sealed unsafe class ParityKernelTests
{
    private const int Rounds = 300;

    private delegate void Call(ParityKernel kernel, byte** data, IoBuffer p, IoBuffer q, IoBuffer third);

    /// <summary>Names of all kernels. The scalar one is among them, because it may be the only one.</summary>
    public static TheoryData<string> Kernels => [.. ParityKernel.Available.Select(static kernel => kernel.Name)];

    [Fact]
    public void The_scalar_kernel_is_the_last_choice() => Assert.Equal("Scalar", ParityKernel.Available[^1].Name);

    [Theory]
    [MemberData(nameof(Kernels))]
    public void Xor_is_that_of_the_scalar_kernel(string name) => Compare(name, mayMiss: false, static (random, count, from, to) =>
    {
        bool adds = random.Next(2) == 0;
        return (kernel, data, p, _, _) => kernel.Xor(data, count, p.Pointer, adds, from, to);
    });

    [Theory]
    [MemberData(nameof(Kernels))]
    public void P_and_Q_are_those_of_the_scalar_kernel(string name) => Compare(name, mayMiss: true, static (random, count, from, to) =>
    {
        bool adds = random.Next(2) == 0, hasP = random.Next(2) == 0;
        return (kernel, data, p, q, _) => kernel.Compute(new StripSet(data, count, hasP ? p.Pointer : null, q.Pointer), adds, from, to);
    });

    [Theory]
    [MemberData(nameof(Kernels))]
    public void An_update_is_that_of_the_scalar_kernel(string name) => Compare(name, mayMiss: false, static (random, _, from, to) =>
    {
        byte factor = (byte)random.Next(256);
        bool hasP = random.Next(2) == 0;
        return (kernel, data, p, q, _) => kernel.Update(data[0], factor, hasP ? p.Pointer : null, q.Pointer, from, to);
    });

    [Theory]
    [MemberData(nameof(Kernels))]
    public void One_strip_is_solved_as_by_the_scalar_kernel(string name) => Compare(name, mayMiss: true, static (random, count, from, to) =>
    {
        byte factor = (byte)random.Next(256);
        bool hasQ = random.Next(4) != 0;
        return (kernel, data, p, q, _) => kernel.SolveOne(new StripSet(data, count, null, hasQ ? q.Pointer : null), factor, p.Pointer, from, to);
    });

    [Theory]
    [MemberData(nameof(Kernels))]
    public void Two_strips_are_solved_as_by_the_scalar_kernel(string name) => Compare(name, mayMiss: true, static (random, count, from, to) =>
    {
        byte byP = (byte)random.Next(256), byQ = (byte)random.Next(256);
        bool hasSecond = random.Next(2) == 0;

        // The last column is P here, so that three targets are enough.
        return (kernel, data, p, q, third) => kernel.SolveTwo(
            new StripSet(data, count - 1, data[count - 1], q.Pointer), byP, byQ, p.Pointer, hasSecond ? third.Pointer : null, from, to);
    });

    private static void Compare(string name, bool mayMiss, Func<Random, int, int, int, Call> choose)
    {
        ParityKernel tested = ParityKernel.Available.Single(kernel => kernel.Name == name), scalar = ParityKernel.Available[^1];
        byte** data = stackalloc byte*[256];
        for (int round = 0; round < Rounds; round++)
        {
            Random random = new(round);
            using StripMemory memory = new(random);
            int count = round % 10 == 0 ? random.Next(1, 256) : random.Next(1, 20);
            int length = random.Next(2) == 0 ? 512 * random.Next(1, 4) : random.Next(1, 2000);
            int from = random.Next(3) == 0 ? random.Next(length) : 0, to = random.Next(3) == 0 ? random.Next(from, length + 1) : length;
            IoBuffer[] strips = [.. Enumerable.Range(0, count).Select(_ => mayMiss && random.Next(4) == 0 ? default : memory.Random(length))];
            for (int i = 0; i < count; i++)
            {
                data[i] = strips[i].Pointer;
            }

            IoBuffer[] expected = [memory.Random(length), memory.Random(length), memory.Random(length)];
            IoBuffer[] found = [.. expected.Select(memory.Copy)];
            Call call = choose(random, count, from, to);

            call(scalar, data, expected[0], expected[1], expected[2]);
            call(tested, data, found[0], found[1], found[2]);

            for (int i = 0; i < expected.Length; i++)
            {
                Assert.True(expected[i].Span.SequenceEqual(found[i].Span), $"round {round}: {count} columns, bytes {from} to {to} of {length}, target {i}");
            }

            memory.CheckGuards();
        }
    }
}

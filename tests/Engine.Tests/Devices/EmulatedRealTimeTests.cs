using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tests.Lanes;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>Alone on the machine: these tests look at the real clock.</summary>
[CollectionDefinition(nameof(RealTimeCollection), DisableParallelization = true)]
public class RealTimeCollection;

/// <summary>
/// The table in real time. Another process may take the processor for a while, so a figure is the best of three short
/// runs; a wrong model is wrong in all of them.
/// </summary>
[Collection(nameof(RealTimeCollection))]
public abstract class EmulatedRealTimeTests(LaneBackend backend)
{
    private const int Attempts = 3;

    public static TheoryData<EmulatedRate> FastRates { get; } = [.. EmulatedRate.Table.Where(rate => rate.PerSecond >= 500)];

    [Theory]
    [MemberData(nameof(FastRates))]
    public void Flash_keeps_its_rates(EmulatedRate rate)
    {
        using TestLane test = TestLane.Create(backend);
        double ratio = 0;
        for (int attempt = 0; attempt < Attempts && ratio is < 0.9 or > 1.1; attempt++)
        {
            ratio = test.Run(() => rate.Measure(test.Lane, Make(test.Lane, rate), seconds: 0.1)) / rate.PerSecond;
        }

        Assert.InRange(ratio, 0.9, 1.1);
    }

    [Fact]
    public void Rotating_disks_keep_their_rates()
    {
        EmulatedRate[] rates = [.. EmulatedRate.Table.Where(rate => rate.PerSecond < 500)];
        using TestLane test = TestLane.Create(backend);
        double[] found = test.Run(async () =>
        {
            LaneTask<double>[] runs = [.. rates.Select(rate => rate.Measure(test.Lane, Make(test.Lane, rate), seconds: 3))];
            double[] results = new double[runs.Length];
            for (int index = 0; index < runs.Length; index++)
            {
                results[index] = await runs[index];
            }

            return results;
        });
        Assert.All(found.Zip(rates), pair => Assert.InRange(pair.First / pair.Second.PerSecond, 0.9, 1.1));
    }

    private static EmulatedDisk Make(ILane lane, EmulatedRate rate) =>
        new(lane, new NullDisk(1L << 40), LatencyProfile.Find(rate.Profile)!);
}

public sealed class UringEmulatedRealTimeTests() : EmulatedRealTimeTests(LaneBackend.Uring);

public sealed class ThreadsEmulatedRealTimeTests() : EmulatedRealTimeTests(LaneBackend.Threads);

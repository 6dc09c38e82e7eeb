using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Exports.Nbd;

/// <summary>A lane, a server with one export "disk" of a store, and the check that nothing is left behind.</summary>
internal sealed class NbdFixture
{
    public NbdFixture(ulong seed = 1, NbdLimits? limits = null, int blockSize = 512, long length = 1 << 20, bool isReadOnly = false,
        int maxTransfer = 32 << 20, long budget = 128 << 20)
    {
        Lane = new SimLane(seed);
        Store = new TestStore(Lane, length, blockSize) { MaxTransfer = maxTransfer };
        Budget = new NbdBudget(budget);
        Server = new NbdServer(Lane, limits, Budget, Notices.Add);
        Export = new NbdExport(Guid.Parse("6f3c1f0e-5a51-4a6e-9d55-0e3b8f3f6a01"), "disk", "a disk for tests", Store, isReadOnly);
        Server.Add(Export);
    }

    public SimLane Lane { get; }

    public TestStore Store { get; }

    public NbdBudget Budget { get; }

    public NbdServer Server { get; }

    public NbdExport Export { get; }

    public List<string> Notices { get; } = [];

    public TestClient Connect(TestSocket? socket = null) => new(Lane, Server, socket);

    /// <summary>Runs until no connection is left, and checks that everything came back.</summary>
    public void AssertNothingHeld(bool endClients = true)
    {
        if (endClients)
        {
            Lane.Run(Server.Close());
        }

        Lane.PumpWhile(() => Server.Connections > 0, 300_000_000_000);
        Assert.Equal(0, Lane.Buffers.Outstanding);
        Assert.Equal(0, Budget.Used);
        Assert.Equal(0, Export.Counters.Connections);
        Assert.Equal(0, Store.Running);
    }
}

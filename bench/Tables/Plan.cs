namespace TierSpaces.Bench.Tables;

/// <summary>Measurements, and the bars for their results.</summary>
internal static class Plan
{
    internal const string Off = "simple";
    internal const string On = "simple, checksums";
    internal const string Mirror = "two-way mirror, checksums";
    internal const string Nbdkit = "nbdkit file";
    internal const string Qemu = "qemu-nbd";
    internal const string Fio = "fio on the bare file";

    private static readonly Workload s_read32 = new("4 KiB random read, depth 32", "randread", 4096, 32);
    private static readonly Workload s_write32 = new("4 KiB random write, depth 32", "randwrite", 4096, 32);
    private static readonly Workload s_read1 = new("4 KiB random read, depth 1", "randread", 4096, 1);
    private static readonly Workload s_write1 = new("4 KiB random write, depth 1", "randwrite", 4096, 1);
    private static readonly Workload s_readAlong = new("1 MiB sequential read, depth 8", "read", 1 << 20, 8);
    private static readonly Workload s_writeAlong = new("1 MiB sequential write, depth 8", "write", 1 << 20, 8);

    internal static (Workload, Comparison[])[] InMemory { get; } =
    [
        (s_read32,
        [
            new(Off, Nbdkit, Bar: 1.5, Aim: 2.0, CpuBar: 0.55), new(On, Nbdkit, Bar: 1.2, Aim: 1.7), new(Mirror, Nbdkit),
            new(Off, Qemu, Aim: 4.0, CpuBar: 0.3), new(On, Qemu),
        ]),
        (s_write32,
        [
            new(Off, Nbdkit, Bar: 1.5, Aim: 2.0, CpuBar: 0.55), new(On, Nbdkit, Bar: 1.2, Aim: 1.7), new(Mirror, Nbdkit),
            new(Off, Qemu, CpuBar: 0.3), new(On, Qemu),
        ]),
        (s_read1, [new(Off, Nbdkit, Aim: 0.6)]),
        (s_readAlong, [new(Off, Nbdkit, Aim: 1.1), new(On, Nbdkit), new(Off, Qemu, Aim: 2.5)]),
        (s_writeAlong, [new(Off, Nbdkit, Aim: 1.1), new(On, Nbdkit), new(Off, Qemu, Aim: 2.5)]),
    ];

    internal static (Workload, Comparison[])[] OnDisk { get; } =
    [
        (s_read32, [new(Off, Qemu, Bar: 1.3, Aim: 1.3, CpuBar: 0.5), new(On, Qemu, Bar: 1.1, CpuBar: 0.5)]),
        (s_write32, [new(Off, Qemu, Bar: 1.3, Aim: 1.3, CpuBar: 0.5), new(On, Qemu, Bar: 1.1, CpuBar: 0.5)]),
        (s_read1, [new(Off, Qemu, Aim: 1.3)]),
        (s_write1, [new(Off, Qemu, Aim: 1.2)]),
        (s_writeAlong, [new(Off, Qemu, Bar: 1.3, Aim: 1.3), new(On, Qemu)]),
        (s_readAlong, [new(Off, Fio, Bar: 0.95, Aim: 0.95), new(On, Fio), new(Off, Qemu)]),
    ];
}

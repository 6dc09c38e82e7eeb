using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using TierSpaces.Acceptance;
using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Golden;

namespace TierSpaces.Host.Tests.Pools;

/// <summary>A pool that an earlier version wrote is raised while a client writes to it, and its host is killed on the way.</summary>
public sealed class RaisedPoolTests
{
    private const int Seed = 7;
    private const int Block = 4096;
    private const string Written = "fixed";   // virtual disk of the client

    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1";
    private static readonly int s_kills = s_isLong ? 30 : 3;
    private static readonly string s_profile = s_isLong ? "HDD7200" : "SSDSata";   // slow enough that a kill meets an order under way

    [Fact]
    public void A_pool_whose_host_is_killed_while_it_is_raised_opens_in_one_of_the_versions_and_can_be_raised()
    {
        GoldenPack pack = GoldenPack.Read(Path.Combine(AppContext.BaseDirectory, "Pools", "0.1", "mirror-of-three.zip"));
        Random random = new(Seed);
        TimeSpan whole = RaisedWithoutAKill(pack);
        List<(bool WasAnswered, int Version)> seen = [.. Enumerable.Range(0, s_kills).Select(i => Killed(pack, whole * ((i + random.NextDouble()) / s_kills)))];
        Assert.Contains(seen, static round => !round.WasAnswered);
        Assert.All(seen, static round => Assert.True(round.Version == 4 || (round is { Version: 1, WasAnswered: false }), $"{round}"));
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"raised in {whole.TotalMilliseconds:F0} ms; {s_kills} kills with seed {Seed}: {seen.Count(static round => round.WasAnswered)} after the answer, {seen.Count(static round => round.Version == 1)} left version 1"));
    }

    /// <summary>Raises a pool and returns how long that took.</summary>
    private static TimeSpan RaisedWithoutAKill(GoldenPack pack)
    {
        using Scratch scratch = Open(pack);
        Assert.Contains("from format version 1 to 4", scratch.Run("Update-StoragePool", "pool", "-WhatIf").Output, StringComparison.Ordinal);
        Assert.Equal(1, VersionOf(scratch));
        Stopwatch watch = Stopwatch.StartNew();
        Assert.True(RaiseAsync(scratch).GetAwaiter().GetResult());
        TimeSpan whole = watch.Elapsed;
        Assert.Equal(4, VersionOf(scratch));
        return whole;
    }

    /// <summary>Kills the host a time after it was ordered to raise the pool; returns whether the order was answered, and the version afterwards.</summary>
    private static (bool WasAnswered, int Version) Killed(GoldenPack pack, TimeSpan after)
    {
        using Scratch scratch = Open(pack);
        int host = scratch.Pair().Host;
        using Writer writer = new(UriOf(Connected(scratch, Written)[Written]));
        Scratch.Eventually("the client writes", () => writer.Acknowledged > 0);
        Task<bool> raised = RaiseAsync(scratch);
        for (Stopwatch watch = Stopwatch.StartNew(); watch.Elapsed < after;)
        {
            Thread.SpinWait(100);
        }

        Scratch.Kill(host);
        bool wasAnswered = raised.GetAwaiter().GetResult();
        writer.End();
        Scratch.Eventually("another host answers", () => scratch.Pair().Host != host);
        int version = 0;
        Scratch.Eventually("the pool is open", () => (version = VersionOf(scratch)) > 0);
        CheckBytes(scratch, pack, writer);
        scratch.Succeed("Update-StoragePool", "pool");
        Assert.Equal(4, VersionOf(scratch));
        scratch.Succeed("stop");
        scratch.Succeed("start");
        Scratch.Eventually("the pool is open", () => VersionOf(scratch) == 4);
        CheckBytes(scratch, pack, writer);
        return (wasAnswered, version);
    }

    private static Scratch Open(GoldenPack pack)
    {
        Scratch scratch = new();
        string[] images = [.. Enumerable.Range(0, pack.Disks.Length).Select(i => Path.Combine(scratch.Root, $"{i}.img"))];
        for (int i = 0; i < images.Length; i++)
        {
            pack.WriteImage(i, images[i]);
        }

        scratch.Succeed("Register-PhysicalDisk", "-Path", string.Join(',', images), "-LogicalSectorSize", "4096", "-LatencyProfile", s_profile);
        Scratch.Eventually("the pool is open", () => VersionOf(scratch) == 1, () => scratch.Run("Get-StoragePool", "-Json").Output);
        return scratch;
    }

    private static async Task<bool> RaiseAsync(Scratch scratch)
    {
        try
        {
            using ManagementClient client = new(scratch.Paths);
            byte[] order = Encoding.UTF8.GetBytes("""{"FriendlyName":["pool"]}""");
            using JsonDocument reply = JsonDocument.Parse(
                await client.SendAsync("Update-StoragePool", order, TestContext.Current.CancellationToken));
            return !reply.RootElement.TryGetProperty("Errors", out JsonElement errors) || errors.GetArrayLength() == 0;
        }
        catch (Exception gone) when (gone is StorageException or IOException or HttpRequestException)
        {
            return false;
        }
    }

    /// <summary>Version of the pool, or 0 while it is not open.</summary>
    private static int VersionOf(Scratch scratch) =>
        scratch.One("Get-StoragePool", "pool").GetProperty("FormatVersion") is { ValueKind: JsonValueKind.Number } version ? version.GetInt32() : 0;

    private static Dictionary<string, JsonElement> Connected(Scratch scratch, string disks)
    {
        scratch.Succeed("Connect-VirtualDisk", disks);
        return JsonDocument.Parse(scratch.Run("Get-VirtualDisk", disks, "-Json").Output).RootElement.EnumerateArray()
            .ToDictionary(static disk => disk.GetProperty("FriendlyName").GetString()!);
    }

    private static string UriOf(JsonElement disk) => disk.GetProperty("NbdUri").GetString()!;

    private static void CheckBytes(Scratch scratch, GoldenPack pack, Writer writer)
    {
        Dictionary<string, JsonElement> disks = Connected(scratch, "*");
        Assert.Equal(pack.Facts.Writes.Select(static write => write.Disk).Distinct().Order(), disks.Keys.Order());
        foreach ((string disk, JsonElement properties) in disks)
        {
            using NbdClient client = new(UriOf(properties));
            byte[] content = new byte[properties.GetProperty("Size").GetInt32()];
            client.Send(1, NbdClient.Read, 0, 0, content.Length);
            Assert.Equal(0U, client.NextAnswer().Error);
            client.Receive(content);
            byte[] expected = GoldenData.After(pack.Facts.Writes, disk, content.Length);
            if (disk == Written)
            {
                Assert.InRange(BitConverter.ToInt64(content), writer.Acknowledged, writer.Sent);
                Writer.Fill(expected.AsSpan(0, Block), BitConverter.ToInt64(content));
            }

            Assert.True(content.AsSpan().SequenceEqual(expected), $"{disk} differs from byte {content.AsSpan().CommonPrefixLength(expected)} on.");
        }
    }

    /// <summary>Writes the first block again and again, each time with the next number, until the host is gone.</summary>
    private sealed class Writer : IDisposable
    {
        private readonly NbdClient _client;
        private readonly Task _writing;
        private long _acknowledged;

        internal Writer(string uri)
        {
            _client = new NbdClient(uri);
            _writing = Task.Run(Write);
        }

        internal long Sent { get; private set; }

        internal long Acknowledged => Volatile.Read(ref _acknowledged);

        public void Dispose() => _client.Dispose();

        /// <summary>Returns when the writing has ended.</summary>
        internal void End() => _writing.GetAwaiter().GetResult();

        internal static void Fill(Span<byte> block, long number)
        {
            for (int at = 0; at < block.Length; at += sizeof(long))
            {
                BitConverter.TryWriteBytes(block[at..], number);
            }
        }

        private void Write()
        {
            byte[] block = new byte[Block];
            try
            {
                while (true)
                {
                    Fill(block, Sent + 1);
                    Sent++;
                    _client.Send((ulong)Sent, NbdClient.Write, NbdClient.ForceUnitAccess, 0, Block, block);
                    if (_client.NextAnswer().Error != 0)
                    {
                        return;
                    }

                    Volatile.Write(ref _acknowledged, Sent);
                }
            }
            catch (SocketException)
            {
                // the host is gone
            }
        }
    }
}

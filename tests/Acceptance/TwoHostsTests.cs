using System.Buffers.Binary;
using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>
/// Two hosts reach the same images by loop devices of their own, and do not see each other's processes. Beside the one that serves, the other does not open the
/// pool. It is stopped (SIGSTOP) with 32 writes under way, taken over by force, and goes on: it serves nothing any more, and the other one never reads a byte
/// that was not written, nor an older one than a flush covers. The other one is stopped in an orderly way, and the first one has the pool back by itself.
/// </summary>
public sealed class TwoHostsTests : IDisposable
{
    private const int Block = 4096;
    private const int Blocks = 8192;
    private const int AtOnce = 32;
    private const int WritesPerFlush = 200;
    private const ulong FlushNumber = ulong.MaxValue;

    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1";
    private static readonly TimeSpan s_reopening = TimeSpan.FromSeconds(15);

    private readonly int _seed = s_isLong ? Environment.TickCount : 7;
    private readonly ulong[] _sent = new ulong[Blocks];
    private readonly ulong[] _acknowledged = new ulong[Blocks];
    private readonly ulong[] _flushed = new ulong[Blocks];
    private readonly List<string> _loops = [];
    private readonly List<double> _reopenings = [];
    private volatile bool _isStopped;   // what is sent from then on could not be told from what the other host writes
    private int _errors;

    public void Dispose()
    {
        foreach (string loop in _loops)
        {
            Tool.TryRun("losetup", ["--detach", loop]);
        }
    }

    [Fact]
    public void One_of_them_serves_and_a_frozen_one_that_was_taken_over_stops()
    {
        Assert.SkipUnless(Environment.IsPrivilegedProcess && File.Exists("/dev/loop-control"), "Loop devices need root and /dev/loop-control.");
        using OtherProcesses ofFirst = new(), ofSecond = new();
        using Home first = new() { Prefix = ofFirst.Prefix };
        using Home second = new() { Prefix = ofSecond.Prefix };
        string[] images = [.. Enumerable.Range(0, 3).Select(number => first.PathOf($"{number}.img"))];
        Array.ForEach(images, static image => Tool.Run("truncate", "-s", "512M", image));
        first.Run("Register-PhysicalDisk", "-Path", string.Join(',', images.Select(Attach)), "-MediaType", "SSD");
        first.Run("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "*");
        first.Run("New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", "v", "-ResiliencySettingName", "Mirror", "-Size", "64MB");
        first.Run("Connect-VirtualDisk", "v");
        second.Run("Register-PhysicalDisk", "-Path", string.Join(',', images.Select(Attach)));
        RequireRefused(second);

        Random random = new(_seed);
        for (int round = 0; round < (s_isLong ? 40 : 1); round++)
        {
            TakeOver(first, second, random);
            second.Run("stop");
            Stopwatch watch = Stopwatch.StartNew();
            first.Eventually("the pool is back", () => IsOpen(first));
            _reopenings.Add(watch.Elapsed.TotalSeconds);
            Assert.InRange(watch.Elapsed, TimeSpan.Zero, s_reopening);
            Verify(first);
            second.Run("start");
            second.Eventually("the pool is seen to be in use", () => Reason(second).Contains("in use", StringComparison.Ordinal));
        }

        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"two hosts: seed {_seed}, {_reopenings.Count} rounds; the first one has the pool back after {_reopenings.Average():F1} s, {_reopenings.Max():F1} s at most; {_errors} blocks gave an error"));
    }

    private void TakeOver(Home first, Home second, Random random)
    {
        _isStopped = false;
        using NbdClient client = new(first.UriOf("v"));
        Task writing = Task.Run(() => Write(client, new Random(random.Next())));
        Thread.Sleep(random.Next(200, 1500));
        Signal(first, "-STOP");
        _isStopped = true;
        try
        {
            second.Run("Update-StoragePool", "p", "-Force");
            second.Run("Connect-VirtualDisk", "v");
            Verify(second);
            Rewrite(second, random);
        }
        finally
        {
            Signal(first, "-CONT");
        }

        first.Eventually("the host has seen which host holds the pool", () => Reason(first).Contains("in use: host", StringComparison.Ordinal));
        Assert.True(writing.Wait(TimeSpan.FromSeconds(10)), "Requests of the host that was stopped do not end.");
        RequireRefused(first);
        Assert.True(IsOpen(second));
        Verify(second);

        Signal(second, "-KILL");   // the next process makes another session and another view, which the first host has to see
        second.Eventually("the pool is open again", () => second.Try("Get-StoragePool", "p").ExitCode == 0 && IsOpen(second));
        second.Run("Connect-VirtualDisk", "v");
        Verify(second);
    }

    private static void RequireRefused(Home home)
    {
        foreach (string[] more in (string[][])[[], ["-Force"]])
        {
            Answer answer = home.Try(["Update-StoragePool", "p", .. more]);
            Assert.True(answer.ExitCode != 0 && answer.Text.Contains("is in use: host", StringComparison.Ordinal), answer.Text);
        }
    }

    /// <summary>Keeps writes of whole blocks under way, with flushes between, until the connection or a request fails.</summary>
    private void Write(NbdClient client, Random random)
    {
        Dictionary<ulong, (int Block, ulong Version)> under = [];
        byte[] data = new byte[Block];
        ulong number = 0;
        ulong[] covered = _flushed;
        try
        {
            for (int sinceFlush = 0; ;)
            {
                while (under.Count < AtOnce && sinceFlush < WritesPerFlush && !_isStopped)
                {
                    int block = random.Next(Blocks);
                    if (!under.Values.Any(one => one.Block == block))
                    {
                        Fill(data, block, ++_sent[block]);
                        under.Add(number, (block, _sent[block]));
                        client.Send(number++, NbdClient.Write, 0, (long)block * Block, Block, data);
                        sinceFlush++;
                    }
                }

                if (under.Count == 0 && _isStopped)
                {
                    return;
                }

                if (under.Count == 0)
                {
                    covered = [.. _acknowledged];
                    client.Send(FlushNumber, NbdClient.Flush, 0, 0, 0);
                }

                (ulong answered, uint error) = client.NextAnswer();
                if (error != 0)
                {
                    return;
                }

                if (answered == FlushNumber)
                {
                    covered.CopyTo(_flushed, 0);
                    sinceFlush = 0;
                }
                else if (under.Remove(answered, out (int Block, ulong Version) done))
                {
                    _acknowledged[done.Block] = done.Version;
                }
            }
        }
        catch (SocketException)
        {
            // The host has ended the connection.
        }
    }

    /// <summary>
    /// Reads every block twice: whole, as new as the last flush at least, no newer than what was sent, and the same both times. Content that was read
    /// stays from then on; a write that was acknowledged and not flushed may be lost with the host that did it.
    /// </summary>
    private void Verify(Home home)
    {
        using NbdClient client = new(home.UriOf("v"));
        ulong?[] found = [.. Enumerable.Range(0, Blocks).Select(block => ReadVersion(client, block))];
        for (int block = 0; block < Blocks; block++)
        {
            if (found[block] is not { } version)
            {
                _errors++;
                continue;
            }

            Assert.True(version >= _flushed[block] && version <= _sent[block], $"Block {block} has version {version}; flushed {_flushed[block]}, sent {_sent[block]}.");
            Assert.Equal(version, ReadVersion(client, block));
            (_acknowledged[block], _flushed[block]) = (version, version);
        }
    }

    /// <summary>Writes most blocks once more, on the host that has the pool now, and flushes.</summary>
    private void Rewrite(Home home, Random random)
    {
        using NbdClient client = new(home.UriOf("v"));
        byte[] data = new byte[Block];
        for (int block = 0; block < Blocks; block++)
        {
            if (random.Next(4) > 0)
            {
                Fill(data, block, ++_sent[block]);
                client.Send((ulong)block, NbdClient.Write, 0, (long)block * Block, Block, data);
                Assert.Equal(0u, client.NextAnswer().Error);
                _acknowledged[block] = _sent[block];
            }
        }

        client.Send(FlushNumber, NbdClient.Flush, 0, 0, 0);
        Assert.Equal(0u, client.NextAnswer().Error);
        _acknowledged.CopyTo(_flushed, 0);
    }

    private static ulong? ReadVersion(NbdClient client, int block)
    {
        client.Send((ulong)block, NbdClient.Read, 0, (long)block * Block, Block);
        if (client.NextAnswer().Error != 0)
        {
            return null;
        }

        byte[] data = new byte[Block], expected = new byte[Block];
        client.Receive(data);
        ulong version = BinaryPrimitives.ReadUInt64LittleEndian(data.AsSpan(8));
        if (version > 0)
        {
            Fill(expected, block, version);
        }

        Assert.True(data.AsSpan().SequenceEqual(expected), $"Block {block} holds what was never written.");
        return version;
    }

    private static void Fill(Span<byte> data, int block, ulong version)
    {
        for (int at = 0; at < Block; at += 16)
        {
            BinaryPrimitives.WriteInt64LittleEndian(data[at..], block);
            BinaryPrimitives.WriteUInt64LittleEndian(data[(at + 8)..], version);
        }
    }

    private static JsonElement Pool(Home home) => Assert.Single(home.Objects("Get-StoragePool", "p"));

    private static bool IsOpen(Home home) => Pool(home).GetProperty("HealthStatus").GetString() == "Healthy";

    private static string Reason(Home home) => Pool(home).GetProperty("OtherOperationalStatusDescription").GetString() ?? "";

    private string Attach(string image)
    {
        Answer answer = Tool.TryRun("losetup", ["--find", "--show", image]);
        Assert.SkipUnless(answer.ExitCode == 0, $"Cannot attach a loop device: {answer.Text}");
        _loops.Add(answer.Output.Trim());
        return _loops[^1];
    }

    private static void Signal(Home home, string signal) =>
        Tool.Run(home.Prefix[0], [.. home.Prefix[1..], Tool.Find("kill"), signal, home.Host.ToString(CultureInfo.InvariantCulture)]);
}

using System.Buffers.Binary;
using System.IO.Compression;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace TierSpaces.Golden;

/// <summary>A write that a golden pool holds.</summary>
/// <param name="Disk">Name of the virtual disk.</param>
/// <param name="Offset">Offset in it, in bytes.</param>
/// <param name="Length">Bytes.</param>
/// <param name="Seed">Seed of the contents; 0: zeros.</param>
internal sealed record GoldenWrite(string Disk, long Offset, int Length, ulong Seed);

/// <summary>State of a golden pool when its host ended.</summary>
/// <param name="NowNs">The lane's clock.</param>
/// <param name="Away">Numbers of the disks that cannot be found when the pool opens.</param>
/// <param name="Writes">Every write that a client had acknowledged, in order.</param>
internal sealed record GoldenFacts(long NowNs, int[] Away, GoldenWrite[] Writes);

// One pool in one zip file:
//   facts.json       clock, disks that are away, acknowledged writes
//   opened.json      objects after the pool was opened by the version that wrote it
//   settled.json     objects after the jobs of the pool had ended
//   disks/N          disk N: length and sector size, then each stretch that is not zero as offset, length, bytes (little-endian)
//   state/NAME       file of the host's state folder; the witness is one of them
//   memory/NAME      memory that outlives the host and not the machine, in the encoding of a disk

/// <summary>Disks, host state and recorded objects of one golden pool.</summary>
internal sealed class GoldenPack
{
    private const int Piece = 4096;   // bytes that are stored or skipped together
    private static readonly JsonSerializerOptions s_indented = new() { WriteIndented = true };

    /// <summary>Clock, missing disks and writes.</summary>
    public required GoldenFacts Facts { get; init; }

    /// <summary>The disks, by number.</summary>
    public required SimMedia[] Disks { get; init; }

    /// <summary>The host's state folder and memory.</summary>
    public required SimHostState State { get; init; }

    /// <summary>Objects after the pool was opened.</summary>
    public JsonObject? Opened { get; set; }

    /// <summary>Objects after its jobs had ended.</summary>
    public JsonObject? Settled { get; set; }

    /// <summary>Reads a file.</summary>
    public static GoldenPack Read(string path)
    {
        using ZipArchive zip = ZipFile.OpenRead(path);
        SortedDictionary<int, SimMedia> disks = [];
        SimHostState state = new();
        foreach (ZipArchiveEntry entry in zip.Entries)
        {
            string[] name = entry.FullName.Split('/');
            switch (name[0])
            {
                case "disks":
                    int number = int.Parse(name[1], System.Globalization.CultureInfo.InvariantCulture);
                    disks[number] = Disk(number, Content(entry));
                    break;
                case "state":
                    state.WriteFile(name[1], Content(entry));
                    break;
                case "memory":
                    byte[] content = Content(entry);
                    Fill(content, state.MapMemory(name[1], (int)BinaryPrimitives.ReadInt64LittleEndian(content)).Span);
                    state.ReturnMemory(name[1]);
                    break;
                default:
                    break;
            }
        }

        return new GoldenPack
        {
            Facts = JsonSerializer.Deserialize<GoldenFacts>(Content(zip.GetEntry("facts.json")!))!,
            Disks = [.. disks.Values],
            State = state,
            Opened = Objects(zip, "opened.json"),
            Settled = Objects(zip, "settled.json"),
        };
    }

    /// <summary>Writes a file. An existing file is not replaced.</summary>
    public void Write(string path)
    {
        using ZipArchive zip = new(new FileStream(path, FileMode.CreateNew), ZipArchiveMode.Create);
        Add(zip, "facts.json", JsonSerializer.SerializeToUtf8Bytes(Facts, s_indented));
        Add(zip, "opened.json", JsonSerializer.SerializeToUtf8Bytes(Opened, s_indented));
        Add(zip, "settled.json", JsonSerializer.SerializeToUtf8Bytes(Settled, s_indented));
        for (int i = 0; i < Disks.Length; i++)
        {
            Add(zip, $"disks/{i}", Sparse(Disks[i]));
        }

        foreach ((string name, byte[] content) in State.Files.OrderBy(static file => file.Key, StringComparer.Ordinal))
        {
            Add(zip, $"state/{name}", content);
        }

        foreach ((string name, int size) in State.MemorySizes.OrderBy(static block => block.Key, StringComparer.Ordinal))
        {
            State.ReturnMemory(name);   // the host that had it was killed
            Engine.Primitives.IoBuffer memory = State.MapMemory(name, size);
            Add(zip, $"memory/{name}", Sparse(size, 0, (offset, piece) => memory.Span.Slice((int)offset, piece.Length).CopyTo(piece)));
        }
    }

    /// <summary>Writes a disk to a new image file.</summary>
    public void WriteImage(int disk, string path)
    {
        using FileStream image = new(path, FileMode.CreateNew);
        image.SetLength(Disks[disk].Length);
        foreach ((long offset, ReadOnlyMemory<byte> bytes) in Stretches(Sparse(Disks[disk])))
        {
            image.Position = offset;
            image.Write(bytes.Span);
        }
    }

    private static byte[] Sparse(SimMedia disk) => Sparse(disk.Length, disk.SectorSize, (offset, piece) => disk.Read(offset, piece));

    private static byte[] Sparse(long length, int sectorSize, ReadPiece read)
    {
        using MemoryStream stream = new();
        using BinaryWriter writer = new(stream);
        writer.Write(length);
        writer.Write(sectorSize);
        byte[] buffer = new byte[Piece];
        for (long offset = 0; offset < length; offset += Piece)
        {
            Span<byte> piece = buffer.AsSpan(0, (int)Math.Min(Piece, length - offset));
            read(offset, piece);
            if (piece.ContainsAnyExcept((byte)0))
            {
                writer.Write(offset);
                writer.Write(piece.Length);
                writer.Write(piece);
            }
        }

        writer.Flush();
        return stream.ToArray();
    }

    private static SimMedia Disk(int number, byte[] content)
    {
        SimMedia disk = new($"disk{number}", BinaryPrimitives.ReadInt64LittleEndian(content), BinaryPrimitives.ReadInt32LittleEndian(content.AsSpan(8)));
        foreach ((long offset, ReadOnlyMemory<byte> bytes) in Stretches(content))
        {
            disk.Write(offset, bytes.Span);
        }

        disk.Harden(disk.CachedWrites);
        return disk;
    }

    private static void Fill(byte[] content, Span<byte> target)
    {
        foreach ((long offset, ReadOnlyMemory<byte> bytes) in Stretches(content))
        {
            bytes.Span.CopyTo(target[(int)offset..]);
        }
    }

    private static IEnumerable<(long Offset, ReadOnlyMemory<byte> Bytes)> Stretches(byte[] content)
    {
        const int header = 12;
        for (int at = header; at < content.Length;)
        {
            long offset = BinaryPrimitives.ReadInt64LittleEndian(content.AsSpan(at));
            int length = BinaryPrimitives.ReadInt32LittleEndian(content.AsSpan(at + 8));
            yield return (offset, content.AsMemory(at + header, length));
            at += header + length;
        }
    }

    private static JsonObject? Objects(ZipArchive zip, string name) => JsonNode.Parse(Content(zip.GetEntry(name)!))?.AsObject();

    private static byte[] Content(ZipArchiveEntry entry)
    {
        using Stream stream = entry.Open();
        using MemoryStream content = new();
        stream.CopyTo(content);
        return content.ToArray();
    }

    private static void Add(ZipArchive zip, string name, byte[] content)
    {
        ZipArchiveEntry entry = zip.CreateEntry(name, CompressionLevel.SmallestSize);
        entry.LastWriteTime = new DateTimeOffset(2030, 1, 1, 0, 0, 0, TimeSpan.Zero);
        using Stream stream = entry.Open();
        stream.Write(content);
    }

    private delegate void ReadPiece(long offset, Span<byte> piece);
}

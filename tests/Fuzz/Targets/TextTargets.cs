using System.Net;
using System.Text;
using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Verification;
using TierSpaces.Host.Attaching.Kernel;
using TierSpaces.Host.Attaching;
using TierSpaces.Host.CommandLine;
using TierSpaces.Host.Listening;
using TierSpaces.Host.Verbs;

namespace TierSpaces.Fuzz.Targets;

/// <summary>Input of people, and the few files of the host's folder.</summary>
internal static class TextTargets
{
    private const long RejectionBytes = 256 << 10;   // an exception with its message and trace

    private static readonly string[] s_words =
        ["\0", ",", "'", "\"", " ", "-", ":", "*", "?", "[a-z]", "[", "]", "`", "%2F", "%", "0x", ".", "KB", "PB", "18446744073709551615", "$true", "null",
        "\u0130", "{", "}", "[]"];

    internal static IReadOnlyList<FuzzTarget> All { get; } =
    [
        Text("size-text", Size, "0", "1.5GB", "0x1000", "18446744073709551615", "16383.999999999999999PB", " 7 kb "),
        Text("list-text", List, "a,b , 'it''s',\"x,y\"", "a"),
        Text("disk-uri", Uri, "file:/var/disk.img", "block:/dev/sda", "emulated:/x/y%3F?profile=HDD10K", "file:/gr%C3%B6%C3%9Fe"),
        Text("wildcard", Wildcard, "d*k\0disk 1", "[a-c]?`*\0b1*", "*a*b*c\0aabbcc", "exact\0EXACT",
            $"{string.Concat(Enumerable.Repeat("*a", 40))}*b\0{new string('a', 256)}"),
        Text("command-line", CommandLine, Lines()),
        Text("disks-json", Registry, Registered(), "[]") with { AllocationPerByte = 1024 },
        Text("attached-json", Attached, AttachedDisks(), "[]") with { AllocationPerByte = 1024 },
        Text("listening-json", Listening, ListeningDisks(), "[]") with { AllocationPerByte = 1024 },
        new("netlink", [Message()], Netlink) { AllocationPerByte = 256 },
    ];

    internal static string Utf8(byte[] bytes) => Encoding.UTF8.GetString(bytes);

    internal static FuzzTarget Text(string name, Func<string, string> run, params string[] seeds) =>
        new(name, [.. seeds.Select(Encoding.UTF8.GetBytes)], bytes => run(Utf8(bytes)))
        {
            AllocationBase = RejectionBytes, AllocationPerByte = 256, MaxLength = 2048, Words = [.. s_words.Select(Encoding.UTF8.GetBytes)], Weight = 40,
        };

    private static string Size(string text)
    {
        if (!SizeText.TryParse(text, out ulong bytes))
        {
            return "refused";
        }

        return SizeText.Format(bytes);
    }

    private static string List(string text)
    {
        try
        {
            return new string('i', Math.Min(ListText.Split(text).Count, 8));
        }
        catch (UsageException problem)
        {
            return problem.Message[^20..];
        }
    }

    // A URI that was read is written so that it reads as the same.
    private static string Uri(string text)
    {
        try
        {
            DiskUri uri = DiskUri.Parse(text);
            return DiskUri.Parse(uri.ToString()) == uri ? uri.Kind.ToString() : throw new WrongAnswerException($"'{uri}' does not come back");
        }
        catch (DiskOpenException problem)
        {
            return problem.Message[text.Length..];
        }
    }

    private static string Wildcard(string text)
    {
        string[] parts = text.Split('\0', 2);
        try
        {
            WildcardPattern pattern = new(parts[0]);
            return $"{pattern.HasWildcards} {pattern.Fits(parts.Length > 1 ? parts[1] : "")}";
        }
        catch (StorageException problem)
        {
            return problem.Error.Word;
        }
    }

    private static string[] Lines() =>
    [
        "New-VirtualDisk\0-StoragePoolFriendlyName\0pool\0-FriendlyName\0d\0-Size\01GB\0-ResiliencySettingName:Mirror\0-WhatIf",
        "New-StoragePool\0-FriendlyName\0p\0-PhysicalDisks\0a,\0b\0,c\0-StorageSubSystemFriendlyName\0s*",
        "Get-PhysicalDisk\0-CanPool\0$true\0-FriendlyName\0d*,'it''s'",
        "Set-PhysicalDisk\0d1\0-Usage\0Retired",
        "Set-StoragePool\0-IsReadOnly:$false\0p",
    ];

    private static string CommandLine(string text)
    {
        string[] tokens = text.Split('\0');
        if (VerbDescription.Find(tokens[0]) is not { } verb)
        {
            return "no verb";
        }

        try
        {
            VerbArguments arguments = VerbArguments.Read(verb, tokens[1..]);
            byte[] body = RequestText.Write(verb, arguments);
            System.Text.Json.JsonSerializer.Deserialize(body, ContractsJson.Default.GetTypeInfo(verb.RequestType)!);
            return $"{verb.Name} {arguments.Given.Length}";
        }
        catch (UsageException problem)
        {
            return problem.Message.Split('\'')[^1];
        }
        catch (StorageException problem)
        {
            return problem.Error.Word;
        }
    }

    private static string Registered()
    {
        SimLane lane = new(1);
        OneFile state = new();
        DiskRegistry registry = new(new StateFolder(lane, state));
        registry.Disks.Add(new RegisteredDisk(new StoredDisk
        {
            Id = Samples.Id, DeviceId = 3, Uri = "file:/a/b.img", FriendlyName = "d", Description = "text", SlotNumber = 4,
        }));
        registry.Disks.Add(new RegisteredDisk(new StoredDisk
        {
            Id = Guid.Empty, DeviceId = 4, Uri = "emulated:/a/c.img?profile=HDD7200", FriendlyName = "e", LatencyProfile = "HDD7200",
        }));
        lane.Run(registry.Save());
        return Utf8(state.Content!);
    }

    private static string Registry(string text)
    {
        SimLane lane = new(1);
        DiskRegistry registry = new(new StateFolder(lane, new OneFile { Content = Encoding.UTF8.GetBytes(text) }));
        string problem = lane.Run(registry.Load());
        foreach (StoredDisk disk in registry.Disks.Select(static disk => disk.Stored))
        {
            _ = disk.Uri.Length + disk.FriendlyName.Length + disk.Description.Length + disk.LatencyProfile.Length + disk.Overrides.GetHashCode();
        }

        return $"{registry.NextDeviceId > 0} {problem.Split('.')[0]}";
    }

    private static string AttachedDisks()
    {
        OneFile state = new();
        new AttachStore(state).Put(new AttachRecord
        {
            UniqueId = "id", FriendlyName = "d", Method = "NbdFuse", Device = "/dev/loop3", Use = "7", Folder = "/x", Processes = [new ProcessMark(4, 5)],
        });
        return Utf8(state.Content!);
    }

    private static string Attached(string text)
    {
        AttachRecord[] records = new AttachStore(new OneFile { Content = Encoding.UTF8.GetBytes(text) }).Read();
        foreach (AttachRecord record in records)
        {
            _ = record.UniqueId.Length + record.FriendlyName.Length + record.Method.Length + record.Device.Length + record.Use.Length + record.Folder.Length
                + record.Processes.Sum(static mark => mark.Id);
        }

        return new string('r', Math.Min(records.Length, 8));
    }

    private static string ListeningDisks()
    {
        OneFile state = new();
        new ListenStore(state).Put(new ListenRecord { UniqueId = "id", Address = "[::1]:10809", TlsCertificatePath = "/x" });
        return Utf8(state.Content!);
    }

    /// <summary>Settings that are read are checked as those of a command: an address, and TLS where other machines reach it.</summary>
    private static string Listening(string text)
    {
        if (new ListenStore(new OneFile { Content = Encoding.UTF8.GetBytes(text) }).Find("id") is not { } record)
        {
            return "none";
        }

        try
        {
            IPEndPoint endpoint = ListenAddress.Parse(record.Address);
            ListenAddress.RequireTlsBeyondLoopback(endpoint, record.TlsCertificatePath, "d");
            return $"{IPAddress.IsLoopback(endpoint.Address)} {record.TlsCertificatePath is null}";
        }
        catch (StorageException)
        {
            return "refused";
        }
    }

    private static byte[] Message() => NetlinkMessage.Request(
        20, 3, 7, new NetlinkAttributes().Add(1, 5u).Add(2, "nbd").Add(3, new NetlinkAttributes().Add(1, 9UL)));

    private static string Netlink(byte[] bytes)
    {
        IReadOnlyList<NetlinkMessage> messages = NetlinkMessage.Read(bytes);
        int attributes = messages.Sum(
            static message => message.Attributes.Values.Sum(static value => 1 + NetlinkAttributes.Read(value).Count) + message.Errno + message.Command);
        return $"{(messages.Count > 1 ? "several" : "one")} {attributes > 0}";
    }
}

using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using TierSpaces.Acceptance;

namespace TierSpaces.Host.Tests.Listening;

/// <summary>Virtual disks v and w that listen at TCP addresses, and the clients of others that use them there.</summary>
public sealed class ListenVerbTests : IDisposable
{
    private const uint Ack = 1, Invalid = 0x80000003, TlsRequired = 0x80000005, Unknown = 0x80000006;
    private const uint ExportName = 1, Abort = 2, List = 3, StartTls = 5, Info = 6, Go = 7, StructuredReply = 8;

    private readonly Scratch _scratch = new();
    private readonly TestCertificates _certificates = new();
    private readonly int _port = FreePort();

    public ListenVerbTests()
    {
        _scratch.Succeed("New-PhysicalDisk", "-Path", $"{_scratch.Root}/a.img,{_scratch.Root}/b.img", "-Size", "256MB");
        _scratch.Succeed("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "a,b");
        foreach (string name in (string[])["v", "w"])
        {
            _scratch.Succeed("New-VirtualDisk", "p", "-FriendlyName", name, "-Size", "32MB", "-ResiliencySettingName", "Simple");
        }
    }

    public void Dispose() => _scratch.Dispose();

    [Fact]
    public void A_loopback_address_serves_one_disk_until_it_is_disconnected_and_over_a_kill_of_the_host()
    {
        string address = $"127.0.0.1:{_port}";
        _scratch.Succeed("Connect-VirtualDisk", "w", "-AttachMethod", "NbdUri");
        Assert.Equal("", Error("Connect-VirtualDisk", "v", "-AttachMethod", "NbdUri", "-ListenAddress", address, "-WhatIf"));
        Assert.Null(UriOf("v"));
        _scratch.Succeed("Connect-VirtualDisk", "v", "-AttachMethod", "NbdUri", "-ListenAddress", address);
        Assert.Equal($"nbd://{address}/v", UriOf("v"));
        Assert.Null(UriOf("w"));
        AssertServesOnlyV();

        // Again is no change; another address and a taken one are refused.
        _scratch.Succeed("Connect-VirtualDisk", "v", "-ListenAddress", address);
        Assert.Contains($"virtual disk 'v' listens at {address}. Disconnect it first", Error("Connect-VirtualDisk", "v", "-ListenAddress", "127.0.0.1:1"));
        Assert.Contains($"-ListenAddress {address}: Address already in use.", Error("Connect-VirtualDisk", "w", "-ListenAddress", address));
        Assert.Null(UriOf("w"));

        Scratch.Kill(_scratch.Pair().Host);
        Scratch.Eventually("the address answers again", () => CanConnect(_port));
        Assert.Equal($"nbd://{address}/v", UriOf("v"));
        AssertServesOnlyV();

        _scratch.Succeed("Set-VirtualDisk", "v", "-NewFriendlyName", "v 2");
        Assert.Equal($"nbd://{address}/v%202", UriOf("v 2"));
        _scratch.Succeed("Disconnect-VirtualDisk", "v 2");
        Assert.Null(UriOf("v 2"));
        Assert.False(CanConnect(_port));
        _scratch.Succeed("Connect-VirtualDisk", "v 2", "-AttachMethod", "NbdUri");
        Assert.Null(UriOf("v 2"));
        Assert.False(CanConnect(_port));
    }

    [Fact]
    public void What_cannot_be_served_so_is_refused_and_changes_nothing()
    {
        string folder = _certificates.Server(Path.Combine(_scratch.Root, "server"), verifiesClients: true);
        Assert.Contains("other machines reach this address, and nothing would be ciphered", Refused("-ListenAddress", $"0.0.0.0:{_port}"));
        Assert.Contains("'nonsense': is no address. Valid:", Refused("-ListenAddress", "nonsense"));
        Assert.Contains("Give -ListenAddress as well", Refused("-TlsCertificatePath", folder));
        Assert.Contains("Cannot assign requested address", Refused("-ListenAddress", $"192.0.2.1:{_port}", "-TlsCertificatePath", folder));
        File.WriteAllText(Path.Combine(folder, "ca-crl.pem"), "");
        Assert.Contains("revocation lists are not obeyed", Refused("-ListenAddress", "127.0.0.1", "-TlsCertificatePath", folder));
        File.Delete(Path.Combine(folder, "ca-crl.pem"));
        File.WriteAllText(Path.Combine(folder, "server-key.pem"), "no key");
        Assert.Contains("server-key.pem cannot be used", Refused("-ListenAddress", "127.0.0.1", "-TlsCertificatePath", folder));
        string keys = Directory.CreateDirectory(Path.Combine(_scratch.Root, "keys")).FullName;
        Assert.Contains("server-cert.pem is missing", Refused("-ListenAddress", "127.0.0.1", "-TlsCertificatePath", keys));
        File.WriteAllText(Path.Combine(keys, "keys.psk"), "client:0011");
        Assert.Contains("pre-shared keys, which the TLS of .NET cannot use", Refused("-ListenAddress", "127.0.0.1", "-TlsCertificatePath", keys));
        Assert.Null(_scratch.One("Get-VirtualDisk", "v").GetProperty("NbdUri").GetString());
    }

    [Fact]
    public void Clients_that_do_not_begin_TLS_see_nothing_of_the_disk()
    {
        ConnectWithTls(verifiesClients: true);
        using (PlainClient client = new(_port))
        {
            Assert.Equal(TlsRequired, client.Option(List));
            Assert.Equal(TlsRequired, client.Option(Info, [0, 0, 0, 1, (byte)'v', 0, 0]));
            Assert.Equal(TlsRequired, client.Option(Go, [0, 0, 0, 1, (byte)'v', 0, 0]));
            Assert.Equal(TlsRequired, client.Option(StructuredReply));
            Assert.Equal(TlsRequired, client.Option(4711));
            Assert.Equal(Invalid, client.Option(StartTls, 1));
            Assert.Equal(Ack, client.Option(Abort));
            Assert.True(client.IsClosed());
        }

        using (PlainClient client = new(_port))
        {
            client.SendOption(ExportName, (byte)'v');
            Assert.True(client.IsClosed());
        }

        using (PlainClient client = new(_port))
        {
            Assert.Equal(Ack, client.Option(StartTls));
            client.SendOption(List);   // in the clear, where TLS has to begin
            Assert.True(client.IsClosed());
        }

        using PlainClient old = new(_port, flags: 0);
        Assert.True(old.IsClosed());
    }

    /// <summary>
    /// nbdinfo, qemu-io and, through nbdkit, fio over TLS, before and after a kill of the host. Clients without the right certificate see nothing.
    /// </summary>
    [Fact]
    public void Tools_of_others_use_the_disk_over_TLS()
    {
        RequireTools();
        string uri = ConnectWithTls(verifiesClients: true);
        string client = _certificates.Client(Path.Combine(_scratch.Root, "client"));
        string stranger = new TestCertificates().Client(Path.Combine(_scratch.Root, "stranger"));
        File.Copy(Path.Combine(client, "ca-cert.pem"), Path.Combine(stranger, "ca-cert.pem"), overwrite: true);   // it trusts us
        string nameless = _certificates.Client(Path.Combine(_scratch.Root, "nameless"), hasCertificate: false);

        foreach (bool isAgain in (bool[])[false, true])
        {
            string info = Run("nbdinfo", $"{uri}?tls-certificates={client}");
            Assert.Contains("TLS", info);
            Assert.Contains("export-size: 33554432", info);
            Assert.Contains("export=\"v\"", Run("nbdinfo", "--list", $"{uri}?tls-certificates={client}"));
            Assert.NotEqual(0, _scratch.RunAs("nbdinfo", [$"{uri}?tls-certificates={stranger}"]).ExitCode);
            Assert.NotEqual(0, _scratch.RunAs("nbdinfo", [$"{uri}?tls-certificates={nameless}"]).ExitCode);
            Assert.NotEqual(0, _scratch.RunAs("nbdinfo", [uri.Replace("nbds:", "nbd:", StringComparison.Ordinal)]).ExitCode);
            Assert.NotEqual(0, _scratch.RunAs("nbdinfo", [$"{uri}x?tls-certificates={client}"]).ExitCode);

            string[] commands = isAgain ? ["-c", "read -P 0x5a 16M 2M"] : ["-c", "write -P 0x5a 16M 2M", "-c", "flush", "-c", "read -P 0x5a 16M 2M"];
            string said = Run("qemu-io",
            [
                "--object", $"tls-creds-x509,id=tls0,dir={client},endpoint=client", .. commands,
                "--image-opts", $"driver=nbd,host=127.0.0.1,port={_port},export=v,tls-creds=tls0",
            ]);
            Assert.DoesNotContain("failed", said, StringComparison.OrdinalIgnoreCase);
            Run("nbdkit",
            [
                "-U", "-", "nbd", "hostname=127.0.0.1", $"port={_port}", "export=v", "tls=require", $"tls-certificates={client}", "--run",
                $"fio {string.Join(' ', FioWords("$uri"))}",
            ]);   // fio itself finds certificates only in the folders of the system
            if (!isAgain)
            {
                Scratch.Kill(_scratch.Pair().Host);
                Scratch.Eventually("the address answers again", () => CanConnect(_port));
                Assert.Equal(uri, UriOf("v"));
            }
        }

        _scratch.Succeed("Disconnect-VirtualDisk", "v");
        Assert.False(CanConnect(_port));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_forced_disconnection_ends_the_address_for_good(bool isTls)
    {
        if (isTls)
        {
            ConnectWithTls(verifiesClients: true);
        }
        else
        {
            _scratch.Succeed("Connect-VirtualDisk", "v", "-AttachMethod", "NbdUri", "-ListenAddress", $"127.0.0.1:{_port}");
        }

        Assert.True(CanConnect(_port));
        _scratch.Succeed("Disconnect-VirtualDisk", "v", "-Force");
        Assert.False(CanConnect(_port));
        _scratch.Succeed("Connect-VirtualDisk", "v", "-AttachMethod", "NbdUri");
        Assert.Null(UriOf("v"));
        _scratch.Succeed("stop");
        Assert.Null(UriOf("v"));   // by the next host
        Assert.False(CanConnect(_port));
    }

    [Fact]
    public void A_stop_is_refused_while_a_client_is_connected_over_TLS()
    {
        RequireTools();
        ConnectWithTls(verifiesClients: true);
        string client = _certificates.Client(Path.Combine(_scratch.Root, "client"));
        using Process user = _scratch.StartAs(
            "stdbuf",
            [
                "-oL", "qemu-io", "--object", $"tls-creds-x509,id=tls0,dir={client},endpoint=client", "-c", "read 0 4k", "-c", "sleep 60000",
                "--image-opts", $"driver=nbd,host=127.0.0.1,port={_port},export=v,tls-creds=tls0",
            ]);
        Assert.StartsWith("read 4096", user.StandardOutput.ReadLine());
        Scratch.Answer refused = _scratch.Run("stop");
        Assert.Equal(1, refused.ExitCode);
        Assert.Matches(@"Virtual disk 'v': NBD clients: tls:127\.0\.0\.1:[0-9]+\.", refused.Error);
        user.Kill();
        user.WaitForExit();
        Scratch.Eventually("the host stops", () => _scratch.Run("stop").ExitCode == 0);
    }

    [Fact]
    public void Without_an_authority_clients_need_no_certificate_and_a_warning_says_so()
    {
        RequireTools();
        string uri = ConnectWithTls(verifiesClients: false);
        string nameless = _certificates.Client(Path.Combine(_scratch.Root, "nameless"), hasCertificate: false);
        Assert.Contains("export-size: 33554432", Run("nbdinfo", $"{uri}?tls-certificates={nameless}"));

        // Certificates are read for each connection: renewed ones are used at once, and an authority that comes is obeyed.
        _certificates.Server(Path.Combine(_scratch.Root, "server"), verifiesClients: true);
        Assert.NotEqual(0, _scratch.RunAs("nbdinfo", [$"{uri}?tls-certificates={nameless}"]).ExitCode);
        string client = _certificates.Client(Path.Combine(_scratch.Root, "client"));
        Assert.Contains("export-size: 33554432", Run("nbdinfo", $"{uri}?tls-certificates={client}"));
    }

    /// <summary>All disks of a pool go, the pool is closed, and opened again when they are back: without a command, and without another host.</summary>
    [Fact]
    public void While_its_pool_is_closed_no_client_is_served()
    {
        int tls = FreePort();
        _scratch.Succeed(
            "New-PhysicalDisk", "-Path", $"{_scratch.Root}/e1.img,{_scratch.Root}/e2.img", "-Size", "256MB", "-LatencyProfile", "NVMe", "-MediaType", "SSD");
        _scratch.Succeed("New-StoragePool", "-FriendlyName", "q", "-PhysicalDisks", "e1,e2");
        foreach (string name in (string[])["plain", "ciphered"])
        {
            _scratch.Succeed("New-VirtualDisk", "q", "-FriendlyName", name, "-Size", "32MB", "-ResiliencySettingName", "Mirror");
        }

        string folder = _certificates.Server(Path.Combine(_scratch.Root, "server"), verifiesClients: true);
        _scratch.Succeed("Connect-VirtualDisk", "plain", "-AttachMethod", "NbdUri", "-ListenAddress", $"127.0.0.1:{_port}");
        _scratch.Succeed(
            "Connect-VirtualDisk", "ciphered", "-AttachMethod", "NbdUri", "-ListenAddress", $"127.0.0.1:{tls}", "-TlsCertificatePath", folder);
        Assert.True(CanConnect(_port) && CanConnect(tls));

        using (NbdClient client = new(_scratch.One("Get-VirtualDisk", "plain").GetProperty("NbdUri").GetString()!))
        {
            _scratch.Succeed("Set-EmulatedDiskFault", "e*", "-Pull");
            Scratch.Eventually("a write fails", () => Fails(client));
        }

        Scratch.Eventually("no client is served", () => !CanConnect(_port) && !CanConnect(tls));
        Assert.Equal((null, null), (UriOf("plain"), UriOf("ciphered")));
        _scratch.Succeed("Set-EmulatedDiskFault", "e*", "-Clear");
        Scratch.Eventually("clients are served again", () => CanConnect(_port) && CanConnect(tls));
        Assert.Equal($"nbds://127.0.0.1:{tls}/ciphered", UriOf("ciphered"));
    }

    [Fact]
    public void Tools_of_others_use_the_disk_in_the_clear_over_loopback()
    {
        RequireTools();
        _scratch.Succeed("Connect-VirtualDisk", "v", "-AttachMethod", "NbdUri", "-ListenAddress", $"localhost:{_port}");
        string uri = UriOf("v")!;
        Assert.Equal("33554432", Run("nbdinfo", "--size", uri).Trim());
        Assert.Equal("33554432", Run("nbdinfo", "--size", $"nbd://127.0.0.1:{_port}").Trim());
        string uniqueId = _scratch.One("Get-VirtualDisk", "v").GetProperty("UniqueId").GetString()!;
        Assert.Equal("33554432", Run("nbdinfo", "--size", $"nbd://127.0.0.1:{_port}/{uniqueId}").Trim());
        string said = Run("qemu-io", "-f", "raw", "-c", "write -P 0x21 4M 1M", "-c", "read -P 0x21 4M 1M", uri);
        Assert.DoesNotContain("failed", said, StringComparison.OrdinalIgnoreCase);
        Run("fio", FioWords(uri));
    }

    private string ConnectWithTls(bool verifiesClients)
    {
        string folder = _certificates.Server(Path.Combine(_scratch.Root, "server"), verifiesClients);
        Scratch.Answer answer = _scratch.Run(
            "Connect-VirtualDisk", "v", "-AttachMethod", "NbdUri", "-ListenAddress", $"127.0.0.1:{_port}", "-TlsCertificatePath", folder);
        Assert.Equal(0, answer.ExitCode);
        Assert.Equal(!verifiesClients, (answer.Output + answer.Error).Contains("has no ca-cert.pem: every client that reaches", StringComparison.Ordinal));
        Assert.Equal($"nbds://127.0.0.1:{_port}/v", UriOf("v"));
        return UriOf("v")!;
    }

    private void AssertServesOnlyV()
    {
        using PlainClient client = new(_port);
        client.SendOption(List);
        Assert.Equal(2u, client.NextReply());   // one export, and the end
        Assert.Equal(Ack, client.NextReply());
        Assert.Equal(Unknown, client.Option(Info, [0, 0, 0, 1, (byte)'w', 0, 0]));
        Assert.Equal(Ack, client.Option(Abort));
    }

    /// <summary>Random writes of several jobs, read back and compared.</summary>
    private static string[] FioWords(string uri) =>
        ["--name=job", "--ioengine=nbd", $"--uri={uri}", "--rw=randwrite", "--bs=4k", "--size=8M", "--iodepth=16", "--verify=crc32c", "--verify_fatal=1"];

    private string Run(string tool, params string[] words)
    {
        Scratch.Answer answer = _scratch.RunAs(tool, words);
        Assert.True(answer.ExitCode == 0, $"{tool} {string.Join(' ', words)}: {answer.Output} {answer.Error}");
        return answer.Output + answer.Error;
    }

    private static void RequireTools()
    {
        string[] folders = Environment.GetEnvironmentVariable("PATH")!.Split(':');
        string[] needed = ["nbdinfo", "qemu-io", "fio", "nbdkit"];
        string[] missing = [.. needed.Where(tool => !folders.Any(folder => File.Exists(Path.Combine(folder, tool))))];
        Assert.SkipWhen(missing.Length > 0, $"Install libnbd-bin, qemu-utils, fio and nbdkit: {string.Join(", ", missing)} missing.");
    }

    private string? UriOf(string name) => _scratch.One("Get-VirtualDisk", name).GetProperty("ListenUri").GetString();

    private string Refused(params string[] words)
    {
        foreach (string[] way in (string[][])[["-WhatIf"], []])
        {
            Assert.Contains("[StorageWMI 5", Error(["Connect-VirtualDisk", "v", "-AttachMethod", "NbdUri", .. words, .. way]));
        }

        return Error(["Connect-VirtualDisk", "v", "-AttachMethod", "NbdUri", .. words]);
    }

    private string Error(params string[] words) => _scratch.Run(words).Error;

    private static bool Fails(NbdClient client)
    {
        try
        {
            client.Send(1, NbdClient.Write, NbdClient.ForceUnitAccess, 0, 4096, new byte[4096]);
            return client.NextAnswer().Error != 0;
        }
        catch (SocketException)
        {
            return true;
        }
    }

    private static bool CanConnect(int port)
    {
        try
        {
            using TcpClient client = new();
            client.Connect(IPAddress.Loopback, port);
            return client.GetStream().ReadByte() >= 0;
        }
        catch (Exception e) when (e is SocketException or IOException)
        {
            return false;
        }
    }

    private static int FreePort()
    {
        using TcpListener listener = new(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}

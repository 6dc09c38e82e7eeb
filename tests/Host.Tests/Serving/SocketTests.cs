using System.Net.Sockets;

namespace TierSpaces.Host.Tests.Serving;

/// <summary>The management socket: who may use it, and what blocks its path.</summary>
public class SocketTests
{
    [Fact]
    public void Another_user_is_refused_by_the_kernel_s_word_alone()
    {
        Assert.SkipUnless(Environment.IsPrivilegedProcess && File.Exists("/usr/bin/setpriv"), "needs root and setpriv");
        using Scratch scratch = new Scratch();
        scratch.Run("start");
        const UnixFileMode everybody = (UnixFileMode)0x1FF;
        File.SetUnixFileMode(scratch.Root, everybody);
        File.SetUnixFileMode(scratch.Paths.Home, everybody);
        File.SetUnixFileMode(scratch.Paths.Socket, everybody);
        string[] curl =
        [
            "--reuid=65534", "--regid=65534", "--clear-groups", "curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}",
            "--unix-socket", scratch.Paths.Socket, "http://host/metrics",
        ];
        Assert.SkipUnless(File.Exists("/usr/bin/curl"), "needs curl");
        Assert.Equal("403", scratch.RunAs("/usr/bin/setpriv", curl).Output);
        Assert.Equal("200", scratch.RunAs("/usr/bin/curl", curl[4..]).Output);
    }

    [Fact]
    public void A_path_that_is_too_long_is_named_with_its_limit()
    {
        using Scratch scratch = new Scratch(new string('x', 100));
        Scratch.Answer answer = scratch.Run("start");
        Assert.Equal(1, answer.ExitCode);
        Assert.Contains("a socket path has at most 107", answer.Error);
        Assert.Contains("Choose a shorter TIERSPACES_HOME.", answer.Error);
    }

    [Fact]
    public void A_file_in_the_way_stays_and_is_named()
    {
        using Scratch scratch = new Scratch();
        Directory.CreateDirectory(scratch.Paths.Home);
        File.WriteAllText(scratch.Paths.Socket, "mine");
        Scratch.Answer answer = scratch.Run("serve");
        Assert.Equal(1, answer.ExitCode);
        Assert.Contains($"'{scratch.Paths.Socket}': something there is not a socket.", answer.Error);
        Assert.Contains("[StorageWMI 5 SocketTaken]", answer.Error);
        Assert.Equal("mine", File.ReadAllText(scratch.Paths.Socket));
    }

    [Fact]
    public void A_socket_somebody_else_listens_on_stays_and_is_named()
    {
        using Scratch scratch = new Scratch();
        Directory.CreateDirectory(scratch.Paths.Home);
        using Socket other = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        other.Bind(new UnixDomainSocketEndPoint(scratch.Paths.Socket));
        other.Listen();
        Scratch.Answer answer = scratch.Run("serve");
        Assert.Equal(1, answer.ExitCode);
        Assert.Contains("another process listens there", answer.Error);
    }

    [Fact]
    public void A_socket_left_behind_is_replaced()
    {
        using Scratch scratch = new Scratch();
        Directory.CreateDirectory(scratch.Paths.Home);
        using (Socket dead = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified))
        {
            dead.Bind(new UnixDomainSocketEndPoint(scratch.Paths.Socket));
            dead.Listen();
            File.Move(scratch.Paths.Socket, scratch.Paths.Socket + ".kept");
        }

        File.Move(scratch.Paths.Socket + ".kept", scratch.Paths.Socket);
        Assert.Equal(0, scratch.Run("start").ExitCode);
    }

    [Fact]
    public void A_home_that_cannot_be_used_is_named()
    {
        using Scratch scratch = new Scratch();
        File.WriteAllText(scratch.Paths.Home, "a file");
        Scratch.Answer answer = scratch.Run("start");
        Assert.Equal(1, answer.ExitCode);
        Assert.Contains($"The folder {scratch.Paths.Home} cannot be used", answer.Error);
        File.Delete(scratch.Paths.Home);
    }

    [Fact]
    public void Hostile_requests_get_an_answer_and_change_nothing()
    {
        using Scratch scratch = new Scratch();
        scratch.Run("start");
        string[] curl = ["--silent", "--unix-socket", scratch.Paths.Socket, "--data", "{\"Nonsense\":1}", "http://host/v1/Start-TierSpacesHost"];
        Assert.SkipUnless(File.Exists("/usr/bin/curl"), "needs curl");
        Assert.Contains("The request cannot be read", scratch.RunAs("/usr/bin/curl", curl).Output);
        Assert.Contains("This host has no verb", scratch.RunAs("/usr/bin/curl", [.. curl[..^1], "http://host/v1/Format-Everything"]).Output);
    }
}

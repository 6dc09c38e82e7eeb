using System.Text;
using TierSpaces.Engine.Devices;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Tests.Attaching;

/// <summary>Damaged records of attached disks: a host starts with any content of the file.</summary>
public sealed class AttachStoreTests : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("ts").FullName;
    private readonly HostState _state;

    public AttachStoreTests() => _state = new HostState(Path.Combine(_root, "state"), Path.Combine(_root, "run"));

    public void Dispose()
    {
        _state.Dispose();
        Directory.Delete(_root, recursive: true);
    }

    [Theory]
    [InlineData("")]
    [InlineData("no JSON")]
    [InlineData("null")]
    [InlineData("{}")]
    [InlineData("""[{"UniqueId":"x"}]""")]
    public void A_file_that_holds_no_records_is_empty(string content)
    {
        _state.WriteFile("attached.json", Encoding.UTF8.GetBytes(content));
        Assert.Empty(new AttachStore(_state).Read());
        new AttachStore(_state).Put(new AttachRecord { UniqueId = "a", FriendlyName = "d", Method = "m", Device = "/dev/x" });
        Assert.Single(new AttachStore(_state).Read());
    }

    [Fact]
    public void What_is_no_record_is_left_out_and_what_is_missing_is_empty()
    {
        const string good = """{"UniqueId":"a","FriendlyName":"d","Method":"m","Device":"/dev/x"}""";
        const string noName = """{"UniqueId":"a","FriendlyName":null,"Method":"m","Device":"/dev/x"}""";
        const string noProcess = """{"UniqueId":"b","FriendlyName":"d","Method":"m","Device":"/dev/x","Processes":[null]}""";
        _state.WriteFile("attached.json", Encoding.UTF8.GetBytes($"[{good},null,{noName},{noProcess}]"));
        AttachRecord[] records = new AttachStore(_state).Read();
        Assert.Equal(["a", "b"], records.Select(record => record.UniqueId));
        Assert.All(records, record => Assert.Equal(("", "", 0), (record.Use, record.Folder, record.Processes.Length)));
    }
}

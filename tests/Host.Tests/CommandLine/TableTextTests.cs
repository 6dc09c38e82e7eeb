using System.Text.Json;
using TierSpaces.Contracts;
using TierSpaces.Host.CommandLine;

namespace TierSpaces.Host.Tests.CommandLine;

public class TableTextTests
{
    private static readonly VirtualDiskInfo[] s_disks =
    [
        new()
        {
            FriendlyName = "data", ResiliencySettingName = "Mirror", PhysicalDiskRedundancy = 1, OperationalStatus = ["OK"],
            HealthStatus = "Healthy", Size = 1UL << 30, AllocatedSize = 1UL << 30, FootprintOnPool = 2UL << 30,
        },
        new()
        {
            FriendlyName = "thin", ResiliencySettingName = "Mirror", PhysicalDiskRedundancy = 1, OperationalStatus = ["OK"],
            HealthStatus = "Healthy", Size = 64UL << 30, AllocatedSize = 3UL << 28, FootprintOnPool = 2UL << 30,
        },
        new()
        {
            FriendlyName = "scratch space", ResiliencySettingName = "Simple", OperationalStatus = ["Detached", "Incomplete"],
            HealthStatus = "Unhealthy", Size = 3UL << 29, FootprintOnPool = 0,
        },
    ];

    [Fact]
    public void Prints_the_default_columns()
    {
        StringWriter output = new StringWriter();
        TableText.Print(typeof(VirtualDiskInfo), Reply(s_disks).GetProperty("Objects"), output);
        Assert.Equal(
            """
            FriendlyName  ResiliencySettingName FaultDomainRedundancy OperationalStatus    HealthStatus   Size FootprintOnPool StorageEfficiency
            ------------  --------------------- --------------------- -----------------    ------------   ---- --------------- -----------------
            data          Mirror                                    1 OK                   Healthy        1 GB            2 GB            50.00%
            thin          Mirror                                    1 OK                   Healthy       64 GB            2 GB            37.50%
            scratch space Simple                                    0 Detached, Incomplete Unhealthy    1.5 GB             0 B


            """,
            output.ToString());
    }

    [Fact]
    public void Nothing_prints_nothing()
    {
        StringWriter output = new StringWriter();
        TableText.Print(typeof(VirtualDiskInfo), Reply([]).GetProperty("Objects"), output);
        Assert.Empty(output.ToString());
    }

    [Fact]
    public void Every_kind_of_object_has_columns_that_exist()
    {
        foreach (Type? type in VerbDescription.All.Select(verb => verb.OutputType).Distinct())
        {
            string[] columns = type.GetCustomAttributes(typeof(WindowsClassAttribute), false).Cast<WindowsClassAttribute>().Single().Columns;
            Assert.NotEmpty(columns);
            foreach (string? property in columns.SelectMany(column => column.Split('=')[^1].Replace(":bytes", "").Replace(":auto", "").Split('/')))
            {
                Assert.True(type.GetProperty(property) is not null, $"{type.Name} has no property {property}.");
            }
        }
    }

    [Fact]
    public void Prints_errors_and_warnings_beside_the_objects()
    {
        VerbDescription verb = VerbDescription.Find("New-VirtualDisk")!;
        VerbReply<VirtualDiskInfo> reply = new VerbReply<VirtualDiskInfo>
        {
            Objects = [s_disks[0]],
            Warnings = ["The pool is almost full."],
            Errors =
            [
                new StorageException(StorageErrors.NotEnoughPhysicalDisks, "4 are needed, 3 are there.", "Add 1 disk.").Error,
                new StorageException(StorageErrors.NameTaken, "'d' is a virtual disk of pool 'p'.").Error,
                StorageException.NotFound("MSFT_StoragePool", "FriendlyName", "x").Error,
            ],
        };
        (StringWriter? output, StringWriter? error) = (new StringWriter(), new StringWriter());
        Assert.Equal(1, ReplyText.Print(verb, Reply(reply), asJson: true, output, error));
        Assert.Equal("data", JsonDocument.Parse(output.ToString()).RootElement[0].GetProperty("FriendlyName").GetString());
        Assert.Equal(
            """
            WARNING: The pool is almost full.
            New-VirtualDisk: There aren't enough physical disks in the storage pool to create the specified virtual disk configuration. 4 are needed, 3 are there. Add 1 disk. [StorageWMI 48004]
            New-VirtualDisk: The name is taken. 'd' is a virtual disk of pool 'p'. [StorageWMI 5 NameTaken]
            New-VirtualDisk: No MSFT_StoragePool objects found with property 'FriendlyName' equal to 'x'.  Verify the value of the property and retry. [CmdletizationQuery_NotFound_FriendlyName]

            """,
            error.ToString());
    }

    [Fact]
    public void Pages_are_one_list()
    {
        VerbDescription verb = VerbDescription.Find("Get-VirtualDisk")!;
        JsonElement warned = Reply(new VerbReply<VirtualDiskInfo> { Objects = [s_disks[1]], Warnings = ["More."] });
        foreach (bool asJson in (bool[])[true, false])
        {
            (StringWriter? whole, StringWriter? output, StringWriter? error) = (new StringWriter(), new StringWriter(), new StringWriter());
            ReplyText.Print(verb, Reply([s_disks[1], s_disks[0], s_disks[1]]), asJson, whole, error);
            ReplyText text = new ReplyText(verb, asJson, output, error);
            text.Print(warned);
            text.Print(Reply([]));
            text.Print(Reply([s_disks[0], s_disks[1]]));
            Assert.Equal(0, text.End());
            Assert.Equal(whole.ToString(), output.ToString());
            Assert.Equal("WARNING: More." + Environment.NewLine, error.ToString());
        }

        (StringWriter? none, StringWriter? nothing) = (new StringWriter(), new StringWriter());
        ReplyText.Print(verb, Reply([]), asJson: true, none, nothing);
        Assert.Equal("[]" + Environment.NewLine, none.ToString());
    }

    private static JsonElement Reply(VirtualDiskInfo[] objects) => Reply(new VerbReply<VirtualDiskInfo> { Objects = objects });

    private static JsonElement Reply(VerbReply<VirtualDiskInfo> reply) =>
        JsonSerializer.SerializeToElement(reply, ContractsJson.Default.VerbReplyVirtualDiskInfo);
}

using System.Text;
using TierSpaces.Contracts;
using TierSpaces.Host.CommandLine;

namespace TierSpaces.Host.Tests.CommandLine;

public class VerbArgumentsTests
{
    [Theory]
    [InlineData(
        "New-VirtualDisk -StoragePoolFriendlyName p -FriendlyName d -ResiliencySettingName Mirror -Size 1GB -NumberOfColumns 2",
        """{"StoragePoolFriendlyName":["p"],"FriendlyName":"d","ResiliencySettingName":"Mirror","Size":1073741824,"NumberOfColumns":2}""")]
    [InlineData("new-virtualdisk p -VirtualDiskFriendlyName d -usemax", """{"StoragePoolFriendlyName":["p"],"FriendlyName":"d","UseMaximumSize":true}""")]
    [InlineData("New-VirtualDisk p -FriendlyName d -Size:1GB -UseMaximumSize:$false",
        """{"StoragePoolFriendlyName":["p"],"FriendlyName":"d","Size":1073741824,"UseMaximumSize":false}""")]
    [InlineData("New-VirtualDisk p -FriendlyName d –Size 1GB --prov thin",
        """{"StoragePoolFriendlyName":["p"],"FriendlyName":"d","Size":1073741824,"ProvisioningType":"Thin"}""")]
    [InlineData("New-VirtualDisk p -FriendlyName d -Size 1.5GB -NumberOfColumns 2.0",
        """{"StoragePoolFriendlyName":["p"],"FriendlyName":"d","Size":1610612736,"NumberOfColumns":2}""")]
    [InlineData("New-StoragePool -FriendlyName p -PhysicalDisks a, b ,c", """{"FriendlyName":"p","PhysicalDisks":["a","b","c"]}""")]
    [InlineData("Get-VirtualDisk a,b*", """{"FriendlyName":["a","b*"]}""")]
    [InlineData("Get-VirtualDisk -Id 7", """{"UniqueId":["7"]}""")]
    [InlineData("Get-PhysicalDisk name serial", """{"FriendlyName":"name","SerialNumber":"serial"}""")]
    [InlineData("Get-PhysicalDisk -CanPool $true", """{"CanPool":true}""")]
    [InlineData("Get-PhysicalDisk -Usage auto-select", """{"Usage":"AutoSelect"}""")]
    [InlineData("Set-VirtualDisk d -NewFriendlyName e", """{"FriendlyName":"d","NewFriendlyName":"e"}""")]
    [InlineData("Set-PhysicalDisk d -MediaType ssd", """{"FriendlyName":"d","MediaType":"SSD"}""")]
    [InlineData("Set-PhysicalDisk d -MediaType 4", """{"FriendlyName":"d","MediaType":"SSD"}""")]
    [InlineData("Set-StorageSubSystem * -VirtualDiskRepairQueueDepth 16", """{"FriendlyName":"*","VirtualDiskRepairQueueDepth":"VeryHigh"}""")]
    [InlineData("Get-VirtualDisk", "{}")]
    public void Makes_the_request(string line, string expected)
    {
        (VerbDescription? verb, VerbArguments? arguments) = Read(line);
        Assert.Equal(expected, Encoding.UTF8.GetString(RequestText.Write(verb, arguments)));
    }

    [Theory]
    [InlineData("New-VirtualDisk p -FriendlyName d -Colour red", "There is no parameter -Colour. 'tierspaces New-VirtualDisk --help' lists them.")]
    [InlineData("New-VirtualDisk p -FriendlyName d -Sice 1", "There is no parameter -Sice. Did you mean -Size?")]
    [InlineData("New-VirtualDisk p -FriendlyName d -NumberOf 1",
        "-NumberOf is ambiguous. Possible matches: -NumberOfDataCopies, -NumberOfColumns, -NumberOfGroups.")]
    [InlineData("New-VirtualDisk p -Size 1GB", "-FriendlyName must be given.")]
    [InlineData("New-VirtualDisk -FriendlyName d", "One of -StoragePoolFriendlyName, -StoragePoolUniqueId, -StoragePoolName, -InputObject must be given.")]
    [InlineData("New-VirtualDisk -StoragePoolFriendlyName p -StoragePoolName q -FriendlyName d",
        "-StoragePoolFriendlyName and -StoragePoolName cannot be given together.")]
    [InlineData("New-VirtualDisk p -FriendlyName d -Size lots",
        "-Size 'lots': is not a size. Valid: 0 to 16384 PB (18446744073709551615 bytes). Give a whole number of bytes, or one with KB, MB, GB, TB or PB, for example 512MB.")]
    [InlineData("New-VirtualDisk p -FriendlyName d -NumberOfColumns 70000",
    "-NumberOfColumns '70000': is not a number of this parameter. Valid: 0 to 65535. Give a whole number in that range.")]
    [InlineData("New-VirtualDisk p -FriendlyName d -NumberOfColumns 1.5",
        "-NumberOfColumns '1.5': is not a number of this parameter. Valid: 0 to 65535. Give a whole number in that range.")]
    [InlineData("New-VirtualDisk p -FriendlyName d -Provisioning Fat", "-ProvisioningType 'Fat' is not accepted. Give one of Unknown, Thin, Fixed.")]
    [InlineData("New-VirtualDisk p -FriendlyName d -MediaType Unspecified", "-MediaType 'Unspecified' is not accepted. Give one of HDD, SSD, SCM.")]
    [InlineData("New-VirtualDisk p -FriendlyName d -IsManualAttach maybe", "-IsManualAttach 'maybe' is no Boolean. Give $true or $false.")]
    [InlineData("New-VirtualDisk p -FriendlyName -Size 1GB", "-FriendlyName needs a value. Write -FriendlyName:VALUE for a value that begins with a dash.")]
    [InlineData("New-VirtualDisk p -FriendlyName d -Size 1GB -Size 2GB", "-Size was given twice.")]
    [InlineData("Get-StoragePool a b", "'b' has no place: no parameter takes a value without a name there.")]
    [InlineData("Remove-VirtualDisk a,,b",
        "The list 'a,,b' has an empty item. Put quotes around an item that has a comma or begins with a quote, and double the quotes inside it.")]
    public void Says_what_is_wrong(string line, string message)
    {
        UsageException wrong = Assert.Throws<UsageException>(() =>
        {
            (VerbDescription? verb, VerbArguments? arguments) = Read(line);
            RequestText.Write(verb, arguments);
        });
        Assert.Equal(message, wrong.Message);
    }

    [Theory]
    [InlineData("Remove-VirtualDisk v -Confirm", true)]
    [InlineData("Remove-VirtualDisk v -Confirm:$true", true)]
    [InlineData("Remove-VirtualDisk v -Confirm:", false)]
    [InlineData("Remove-VirtualDisk -Confirm: v", false)]
    [InlineData("Remove-VirtualDisk -Confirm: $true v", true)]
    [InlineData("Remove-VirtualDisk -Confirm: false v", false)]
    public void A_switch_with_a_colon_and_nothing_behind_it_is_off(string line, bool isOn)
    {
        (VerbDescription? verb, VerbArguments? arguments) = Read(line);
        Assert.Equal(isOn, arguments.IsOn(CommonParameters.Confirm));
        Assert.Equal("""{"FriendlyName":["v"]}""", Encoding.UTF8.GetString(RequestText.Write(verb, arguments)));
    }

    [Fact]
    public void Paths_become_absolute()
    {
        (VerbDescription? verb, VerbArguments? arguments) = Read("New-PhysicalDisk a.img,/b.img -Size 1GB");
        string path = Path.Combine(Environment.CurrentDirectory, "a.img");
        Assert.Contains($"\"Path\":[\"{path}\",\"/b.img\"]", Encoding.UTF8.GetString(RequestText.Write(verb, arguments)));
    }

    /// <summary>Every beginning that names one documented parameter still names it, whatever we have added.</summary>
    [Fact]
    public void Our_parameters_make_no_documented_beginning_ambiguous()
    {
        foreach (VerbDescription verb in VerbDescription.All)
        {
            ParameterDescription[] documented = verb.Parameters.Where(parameter => !parameter.Attribute.IsOurs).ToArray();
            foreach (ParameterDescription? parameter in documented)
            {
                for (int length = 2; length <= parameter.Name.Length; length++)
                {
                    string beginning = parameter.Name[..length];
                    if (documented.Count(other => Begins(other, beginning)) == 1)
                    {
                        Assert.Equal(parameter.Name, ParameterNames.Resolve(verb, beginning));
                    }
                }
            }
        }
    }

    private static bool Begins(ParameterDescription parameter, string beginning) =>
        parameter.Aliases.Prepend(parameter.Name).Any(name => name.StartsWith(beginning, StringComparison.OrdinalIgnoreCase));

    private static (VerbDescription Verb, VerbArguments Arguments) Read(string line)
    {
        string[] words = line.Split(' ');
        VerbDescription verb = VerbDescription.Find(words[0])!;
        return (verb, VerbArguments.Read(verb, words[1..]));
    }
}

using TierSpaces.Contracts;
using TierSpaces.Host.Verbs;

namespace TierSpaces.Host.Tests.Verbs;

public class RequestCheckTests
{
    private static readonly NewVirtualDiskRequest s_good = new() { StoragePoolFriendlyName = ["p"], FriendlyName = "d", Size = 1 };
    private readonly List<string> _warnings = [];

    [Fact]
    public void A_good_request_passes_without_a_word()
    {
        Check(s_good);
        Assert.Empty(_warnings);
    }

    [Fact]
    public void Refused_parameters_are_refused_with_code_1()
    {
        StorageErrorInfo error = Assert.Throws<StorageException>(() => Check(s_good with { ReadCacheSize = 1 })).Error;
        Assert.Equal(1, error.Code);
        Assert.Equal("-ReadCacheSize: Read caches are not available.", error.ExtendedInformation);
    }

    [Fact]
    public void Refused_parameters_that_ask_for_nothing_pass() =>
        Check(s_good with { ReadCacheSize = 0, NumberOfGroups = 1, FaultDomainAwareness = FaultDomainType.PhysicalDisk, IsEnclosureAware = false });

    [Fact]
    public void Parameters_without_effect_are_remarked_upon()
    {
        Check(s_good with { AllocationUnitSize = 1 });
        Assert.Equal("-AllocationUnitSize has no effect: the unit of allocation is the slab of the pool.", Assert.Single(_warnings));
    }

    [Fact]
    public void Whoever_calls_parameter_sets_are_checked()
    {
        Assert.Contains("cannot be given together", ManagementError(s_good with { StoragePoolName = ["q"] }));
        Assert.Contains("-FriendlyName must be given", ManagementError(s_good with { FriendlyName = null }));
        Assert.Contains("One of -StoragePoolFriendlyName", ManagementError(s_good with { StoragePoolFriendlyName = null }));
        Assert.Contains("-MediaType 'Unspecified' is not accepted", ManagementError(s_good with { MediaType = MediaType.Unspecified }));
        Assert.Contains("-PhysicalDisksToUse '' is not accepted", ManagementError(s_good with { PhysicalDisksToUse = [null!] }));
    }

    [Fact]
    public void An_object_that_is_missing_is_answered_with_its_parameter()
    {
        string[][] incomplete = [[null!], ["disk", null!], [""]];
        foreach (string[] given in incomplete)
        {
            Assert.Contains("-StorageTiers '' is not accepted: an object of class MSFT_StorageTier is missing.",
                ManagementError(s_good with { Size = null, StorageTiers = given, StorageTierSizes = [1] }));
        }

        GetPhysicalDiskRequest one = new() { VirtualDisk = "" };
        StorageException refused = Assert.Throws<StorageException>(() => RequestCheck.Check(VerbDescription.Of(one.GetType()), one, _warnings.Add));
        Assert.Equal((5, "VirtualDisk"), (refused.Error.Code, refused.Error.Target));
    }

    private void Check(StorageRequest request) => RequestCheck.Check(VerbDescription.Of(request.GetType()), request, _warnings.Add);

    private string ManagementError(StorageRequest request) => Assert.Throws<StorageException>(() => Check(request)).Message;
}

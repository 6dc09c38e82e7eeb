using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Management;

/// <summary>Request for a tier template. Null: a new template leaves the setting open, an existing one keeps it.</summary>
public sealed record TierTemplateRequest
{
    /// <summary>Name.</summary>
    public string? FriendlyName { get; init; }

    /// <summary>Medium.</summary>
    public MediaType? MediaType { get; init; }

    /// <summary>Simple, Mirror or Parity.</summary>
    public string? ResiliencySettingName { get; init; }

    /// <summary>Copies.</summary>
    public int? NumberOfDataCopies { get; init; }

    /// <summary>Disks that may fail.</summary>
    public int? PhysicalDiskRedundancy { get; init; }

    /// <summary>Columns; 0: as many as the disks allow.</summary>
    public int? NumberOfColumns { get; init; }

    /// <summary>Bytes of a strip.</summary>
    public long? Interleave { get; init; }

    /// <summary>Provisioning.</summary>
    public ProvisioningType? ProvisioningType { get; init; }

    /// <summary>Text of the user.</summary>
    public string? Description { get; init; }

    /// <summary>Level of the fault domains that hold the copies.</summary>
    public FaultDomainLevel? FaultDomainAwareness { get; init; }

    /// <summary>Level of the fault domains that no two columns share.</summary>
    public FaultDomainLevel? ColumnIsolation { get; init; }
}

/// <summary>Makes a tier template of a request, or refuses what cannot be. Whether the pool has the medium is asked when a disk is made of it.</summary>
internal static class TierTemplatePlan
{
    /// <summary>Returns the changed template.</summary>
    /// <param name="state">The pool.</param>
    /// <param name="template">The template before the change; for a new one only its identity.</param>
    /// <param name="request">The changes.</param>
    internal static TierTemplate Change(PoolState state, TierTemplate template, TierTemplateRequest request)
    {
        CheckName(state, template, request);
        CheckDescription(request.Description);
        LayoutRequest.CheckColumns(request.NumberOfColumns, min: 0);
        TierTemplate changed = template with
        {
            FriendlyName = request.FriendlyName ?? template.FriendlyName,
            MediaTypeCode = (ushort?)request.MediaType ?? template.MediaTypeCode,
            NumberOfColumns = (ushort?)request.NumberOfColumns ?? template.NumberOfColumns,
            Interleave = request.Interleave is { } strip ? LayoutRequest.CheckedInterleave(state, strip) : template.Interleave,
            ProvisioningType = request.ProvisioningType ?? template.ProvisioningType,
            Description = request.Description ?? template.Description,
            FaultDomainAwareness = request.FaultDomainAwareness ?? template.FaultDomainAwareness,
            ColumnIsolation = request.ColumnIsolation ?? template.ColumnIsolation,
        };
        return WithLayout(state, changed, new LayoutRequest(request.ResiliencySettingName, request.NumberOfDataCopies, request.PhysicalDiskRedundancy));
    }

    /// <summary>Returns the changed tier of a virtual disk: only its name and its description can change.</summary>
    /// <param name="disk">The virtual disk.</param>
    /// <param name="tier">The tier.</param>
    /// <param name="request">The changes.</param>
    internal static TierDescription Change(VirtualDiskDescription disk, TierDescription tier, TierTemplateRequest request)
    {
        if (request != new TierTemplateRequest { FriendlyName = request.FriendlyName, Description = request.Description })
        {
            throw new ManagementException(
                ManagementError.NotSupported,
                $"Storage tier '{tier.FriendlyName}' is a part of virtual disk '{disk.FriendlyName}': its medium and its layout stay as they are.",
                "Change the template that virtual disks are made of from now on, or make another virtual disk and copy.");
        }

        string name = request.FriendlyName ?? tier.FriendlyName;
        FriendlyNames.Require(name, "NewFriendlyName");
        CheckDescription(request.Description);
        return disk.Tiers.Any(other => other.Id != tier.Id && string.Equals(other.FriendlyName, name, StringComparison.OrdinalIgnoreCase))
            ? throw new ManagementException(
                ManagementError.NameTaken, $"-NewFriendlyName '{name}' is the name of another tier of virtual disk '{disk.FriendlyName}'.",
                "Choose another name.")
            : tier with { FriendlyName = name, Description = request.Description ?? tier.Description };
    }

    // Copies alone are copies of the layout that the template has; a layout alone that it has already keeps its copies.
    private static TierTemplate WithLayout(PoolState state, TierTemplate template, LayoutRequest layoutRequest)
    {
        if (layoutRequest.IsOpen)
        {
            return template;
        }

        bool hasLayout = template.NumberOfDataCopies > 0;
        layoutRequest = hasLayout && layoutRequest.Name is null ? layoutRequest with { Name = template.ResiliencySettingName } : layoutRequest;
        string layout = layoutRequest.DecideName(state);
        if (hasLayout && layout == template.ResiliencySettingName && layoutRequest is { Copies: null, Redundancy: null })
        {
            return template;
        }

        int copies = layoutRequest.DecideCopies(state, layout);
        int redundancy = copies - 1 + layoutRequest.DecideParities(state, layout);
        return template with { ResiliencySettingName = layout, NumberOfDataCopies = (ushort)copies, PhysicalDiskRedundancy = (ushort)redundancy };
    }

    private static void CheckName(PoolState state, TierTemplate template, TierTemplateRequest request)
    {
        string parameter = template.FriendlyName.Length == 0 ? "FriendlyName" : "NewFriendlyName";
        string name = request.FriendlyName ?? template.FriendlyName;
        FriendlyNames.Require(name, parameter);
        if (state.TierTemplates.Values.Any(other => other.Id != template.Id && string.Equals(other.FriendlyName, name, StringComparison.OrdinalIgnoreCase)))
        {
            throw new ManagementException(
                ManagementError.NameTaken, $"-{parameter} '{name}' is the name of another storage tier of storage pool '{state.Pool!.FriendlyName}'.",
                "Choose another name.");
        }
    }

    private static void CheckDescription(string? description)
    {
        if (description?.Length > TierTemplate.MaxDescriptionLength)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter,
                $"-Description has {description.Length} characters; at most {TierTemplate.MaxDescriptionLength} are possible.", "Give a shorter text.");
        }
    }
}

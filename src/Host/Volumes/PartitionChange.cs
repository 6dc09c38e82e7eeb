using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes;

/// <summary>New settings of a partition; null: as it is.</summary>
internal sealed record PartitionChange
{
    /// <summary>Type in a GPT.</summary>
    public string? GptType { get; init; }

    /// <summary>Type in an MBR.</summary>
    public int? MbrType { get; init; }

    /// <summary>Whether an MBR marks it active.</summary>
    public bool? IsActive { get; init; }

    /// <summary>Whether it is hidden.</summary>
    public bool? IsHidden { get; init; }

    /// <summary>Whether it is offline.</summary>
    public bool? IsOffline { get; init; }

    /// <summary>New drive letter.</summary>
    public string? Letter { get; init; }

    /// <summary>GPT attributes to set or to clear.</summary>
    public Dictionary<int, bool> Attributes { get; init; } = [];

    /// <summary>Reads a request.</summary>
    /// <exception cref="StorageException">A value is none of its parameter.</exception>
    public static PartitionChange Of(SetPartitionRequest request)
    {
        Dictionary<int, bool> attributes = [];
        foreach ((int bit, bool? value) in ((int, bool?)[])[(VolumePartition.ReadOnlyBit, request.IsReadOnly), (VolumePartition.ShadowCopyBit,
            request.IsShadowCopy),
            (VolumePartition.NoDriveLetterBit, request.NoDefaultDriveLetter)])
        {
            if (value is { } given)
            {
                attributes[bit] = given;
            }
        }

        if (request.MbrType is 0 or > byte.MaxValue)
        {
            throw new StorageException(
                StorageErrors.PartitionTypeInvalid, $"-MbrType {request.MbrType}: out of range. Valid: 1 to 255.", "Give the number of a type.", "MbrType");
        }

        return new PartitionChange
        {
            GptType = request.GptType is { } type ? PartitionType.ParseGpt(type) : null,
            MbrType = request.MbrType, IsActive = request.IsActive, IsHidden = request.IsHidden, IsOffline = request.IsOffline,
            Letter = request.NewDriveLetter is { } letter ? DriveLetter.Parse(letter, nameof(request.NewDriveLetter)) : null,
            Attributes = attributes,
        };
    }
}

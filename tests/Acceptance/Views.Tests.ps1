BeforeDiscovery {
    [xml] $format = Get-Content $PSScriptRoot/../../TierSpaces.format.ps1xml
    $views = foreach ($view in $format.Configuration.ViewDefinitions.View | Where-Object TableControl) {
        @{ Name = $view.Name; Type = @($view.ViewSelectedBy.TypeName)[0]; Xml = $view.OuterXml }
    }
}

BeforeAll {
    . $PSScriptRoot/Session.ps1

    # Objects with the properties of a view: sizes of TB, and one text for everything else.
    function New-ViewObject([string] $Type, [string] $Xml, [string] $Text) {
        $object = [ordered]@{ PSTypeName = $Type }
        foreach ($match in [regex]::Matches($Xml, '\$_\.(\w+)|<PropertyName>(\w+)')) {
            $property = $match.Groups[1].Value + $match.Groups[2].Value
            $object[$property] = if ($Xml -match "::(Bytes|Percent)\([^)]*\`$_\.$property\b") { [uint64] 7654321987654 } else { $Text }
        }

        [pscustomobject] $object
    }
}

Describe 'Tables of the module' {
    It '<Name> is no wider than a terminal of 80 columns' -ForEach $views {
        foreach ($text in 'Pool1', 'A friendly name that has forty character') {
            $table = 1..12 | ForEach-Object { New-ViewObject $Type $Xml $text } | Format-Table -View $Name | Out-String -Width 80
            $lines = $table -split "`r?`n"
            $lines | Where-Object Length -gt 80 | Should -BeNullOrEmpty
            ($lines | Where-Object { $_.Trim() }).Count | Should -BeGreaterThan 12
        }
    }

    It 'shows the spindle speed of disks in the view Hardware' {
        $disk = [pscustomobject]@{
            PSTypeName = 'Microsoft.Management.Infrastructure.CimInstance#ROOT/Microsoft/Windows/Storage/MSFT_PhysicalDisk'
            DeviceId = '1'; FriendlyName = 'Data1'; MediaType = 'HDD'; BusType = 'SATA'; SpindleSpeed = 7200; FirmwareVersion = 'A1'; Size = 4TB
        }
        $disk | Format-Table -View Hardware | Out-String -Width 80 | Should -Match 'SpindleSpeed FirmwareVersion\s+Size[\s\S]*\s7200 A1\s+4 TB'
    }

    It 'shows checksum mismatches in the view Errors' {
        $counter = [pscustomobject]@{
            PSTypeName = 'Microsoft.Management.Infrastructure.CimInstance#ROOT/Microsoft/Windows/Storage/MSFT_StorageReliabilityCounter'
            DeviceId = '1'; ReadErrorsUncorrected = 2; WriteErrorsUncorrected = 3; ChecksumMismatches = 4
        }
        $counter | Format-Table -View Errors | Out-String -Width 80 | Should -Match 'ChecksumMismatches\s+-[- ]+\s+1\s+2\s+3\s+4'
    }
}

# Objects on their way through files, JSON and pipelines; errors as scripts look at them.
BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 16MB
    $null = New-VirtualDisk Pool1 -FriendlyName Other -Size 16MB
    Repair-VirtualDisk Other
}

AfterAll {
    Stop-TestSession
}

Describe 'Objects of <Class>' -ForEach @(
    @{ Class = 'MSFT_PhysicalDisk'; Get = { Get-PhysicalDisk Pool11 } }
    @{ Class = 'MSFT_StoragePool'; Get = { Get-StoragePool Pool1 } }
    @{ Class = 'MSFT_VirtualDisk'; Get = { Get-VirtualDisk Data } }
    @{ Class = 'MSFT_StorageSubSystem'; Get = { Get-StorageSubSystem } }
    @{ Class = 'MSFT_ResiliencySetting'; Get = { Get-ResiliencySetting -Name Mirror } }
    @{ Class = 'MSFT_StorageReliabilityCounter'; Get = { Get-PhysicalDisk Pool11 | Get-StorageReliabilityCounter } }
) {
    BeforeAll {
        $object = & $Get
        $properties = $object.PSObject.Properties.Name
    }

    It 'have the type names of a CIM instance' {
        $object.PSTypeNames[0] | Should -BeExactly "Microsoft.Management.Infrastructure.CimInstance#ROOT/Microsoft/Windows/Storage/$Class"
        $object.PSTypeNames | Should -Contain "Microsoft.Management.Infrastructure.CimInstance#$Class"
        $object.PSTypeNames | Should -Contain 'Microsoft.Management.Infrastructure.CimInstance#MSFT_StorageObject'
    }

    It 'come back from Export-Clixml with every value, under deserialized names' {
        $object | Export-Clixml $SessionFolder/object.xml
        $back = Import-Clixml $SessionFolder/object.xml
        $back.PSTypeNames[0] | Should -BeExactly "Deserialized.Microsoft.Management.Infrastructure.CimInstance#ROOT/Microsoft/Windows/Storage/$Class"
        foreach ($property in $properties) { "$($back.$property)" | Should -BeExactly "$($object.$property)" -Because $property }
    }

    It 'are whole in JSON and CSV' {
        $json = $object | ConvertTo-Json -EnumsAsStrings | ConvertFrom-Json -DateKind String
        $json.PSObject.Properties.Name | Should -Be $properties
        $json.UniqueId | Should -Be $object.UniqueId
        ($object | ConvertTo-Csv | ConvertFrom-Csv).UniqueId | Should -Be $object.UniqueId
    }

    It 'do not change when what they describe does, and can be selected from' {
        ($object | Select-Object UniqueId).UniqueId | Should -Be $object.UniqueId
        ($object | Format-List * | Out-String) | Should -Match ([regex]::Escape($object.UniqueId))
    }
}

Describe 'Objects that came back from a file' {
    It 'name what they are of, by their properties' {
        Get-VirtualDisk Data | Export-Clixml $SessionFolder/disk.xml
        $back = Import-Clixml $SessionFolder/disk.xml
        (Get-VirtualDisk -UniqueId $back.UniqueId).FriendlyName | Should -Be 'Data'
        ([pscustomobject] @{ FriendlyName = 'Data' } | Get-VirtualDisk).FriendlyName | Should -Be 'Data'
        ([pscustomobject] @{ UniqueId = $back.UniqueId } | Get-VirtualDisk).FriendlyName | Should -Be 'Data'
    }
}

# Every property that Windows documents as a number with a name.
Describe 'Documented numbers with names, of <Class>' -ForEach @(
    @{ Class = 'MSFT_PhysicalDisk'; Get = { Get-PhysicalDisk } }
    @{ Class = 'MSFT_StoragePool'; Get = { Get-StoragePool } }
    @{ Class = 'MSFT_VirtualDisk'; Get = { Get-VirtualDisk } }
    @{ Class = 'MSFT_StorageSubSystem'; Get = { Get-StorageSubSystem } }
    @{ Class = 'MSFT_StorageJob'; Get = { Get-StorageJob } }
) {
    BeforeAll {
        $facts = Get-Content $PSScriptRoot/../Conformance/Facts/objects.json -Raw | ConvertFrom-Json -AsHashtable
        $objects = & $Get
        $filled = $facts.$Class.values.Keys.Where{ $null -ne @($objects.$_)[0] }
    }

    It 'compare with either, from either side, and also after a file' {
        $objects | Export-Clixml $SessionFolder/objects.xml
        foreach ($object in @($objects) + @(Import-Clixml $SessionFolder/objects.xml)) {
            foreach ($property in $filled) {
                foreach ($value in $object.$property) {
                    $number = [int] $value
                    $name = $facts.$Class.values.$property."$number"
                    "$value" | Should -BeExactly $name -Because $property
                    $value -eq $name -and $value -eq $number -and $name -eq $value -and $number -eq $value | Should -BeTrue -Because $property
                    $value -eq 'Nothing' -or $value -eq 4711 | Should -BeFalse -Because $property
                    @($object | Where-Object $property -EQ $name).Count | Should -Be 1 -Because $property
                    @($object | Where-Object $property -Contains $number).Count | Should -Be 1 -Because $property
                }
            }
        }

        $filled.Count | Should -BeGreaterThan 1
    }

    It 'are names in JSON' {
        $json = $objects | ConvertTo-Json -Depth 3 | ConvertFrom-Json
        foreach ($property in $filled) { "$($json.$property)" | Should -BeExactly "$($objects.$property)" -Because $property }
    }
}

Describe 'Enumerations' {
    It 'are what scripts take them for' {
        $disk = Get-PhysicalDisk Pool11
        $disk.Usage -eq 'Auto-Select' -and $disk.Usage -eq 1 -and $disk.Usage -ne 'Hot Spare' | Should -BeTrue
        $disk.OperationalStatus -eq 'OK' -and $disk.OperationalStatus -eq 2 | Should -BeTrue
        $disk.CannotPoolReason -eq 'In a Pool' -and $disk.CannotPoolReason -eq 2 | Should -BeTrue
        $disk.HealthStatus -in 'Healthy', 'Warning' -and $disk.HealthStatus -in 0, 1 -and 'Healthy' -in $disk.HealthStatus | Should -BeTrue
        $disk.SupportedUsages -contains 'Hot Spare' -and $disk.SupportedUsages -contains 4 | Should -BeTrue
        "$($disk.Usage)" | Should -BeExactly 'Auto-Select'
        switch ($disk.Usage) { 'Auto-Select' { $seen = $true } }
        $seen | Should -BeTrue
        $disk.HealthStatus -like 'Heal*' -and $disk.BusType -match 'Backed' | Should -BeTrue
        ($disk | Group-Object Usage -AsHashTable -AsString).'Auto-Select'.UniqueId | Should -Be $disk.UniqueId
        ($disk | ConvertTo-Csv | ConvertFrom-Csv).Usage | Should -BeExactly 'Auto-Select'
    }

    It 'have numbers of the provider above 19' {
        Get-VirtualDisk Data | Set-VirtualDisk -IsManualAttach $true
        Get-VirtualDisk Data | Disconnect-VirtualDisk
        $disk = Get-VirtualDisk Data
        $disk.OperationalStatus -eq 'Detached' -and $disk.OperationalStatus -eq 53250 | Should -BeTrue
        $disk.DetachedReason -eq 'By Policy' -and $disk.DetachedReason -eq 2 | Should -BeTrue
    }
}

Describe 'Errors' {
    It 'go on by default, end with Stop, and can be silenced' {
        $answer = Get-VirtualDisk nothing, Data -ErrorAction SilentlyContinue -ErrorVariable failures
        $answer.FriendlyName | Should -Be 'Data'
        $failures.Count | Should -Be 1
        { Get-VirtualDisk nothing -ErrorAction Stop } | Should -Throw -ErrorId 'CmdletizationQuery_NotFound_FriendlyName,Get-VirtualDisk'
        $Error.Clear()
        Get-VirtualDisk nothing -ErrorAction Ignore
        $Error.Count | Should -Be 0
        Get-VirtualDisk nothing -ErrorAction SilentlyContinue
        $Error[0].FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Get-VirtualDisk'
    }

    It 'have category, target and three parts of text' {
        $failure = Get-WrittenError { New-VirtualDisk Pool1 -FriendlyName X -Size 1TB }
        $failure.FullyQualifiedErrorId | Should -BeExactly 'StorageWMI 40000,New-VirtualDisk'
        $failure.CategoryInfo.Category | Should -Be 'ResourceUnavailable'
        $failure.CategoryInfo.Activity | Should -Be 'New-VirtualDisk'
        $failure.ErrorDetails.Message | Should -Match '(?s)^Not enough available capacity\.\s+Extended information:\s+.*1 TB.*Recommended Actions:\s+- '
        (Get-WrittenError { Get-StoragePool nothing }).TargetObject | Should -Be 'nothing'
    }

    It 'are caught by their id, and $? tells of them' {
        $caught = try { Remove-StoragePool Pool1 -Confirm:$false -ErrorAction Stop } catch { $_.FullyQualifiedErrorId }
        $caught | Should -Be 'StorageWMI 48008,Remove-StoragePool'
        $ErrorActionPreference = 'SilentlyContinue'
        Get-StoragePool nothing
        $? | Should -BeFalse
    }

    It 'of one object leave the others of a pipeline alone' {
        $names = 'Data', 'nothing', 'Other' | ForEach-Object { [pscustomobject] @{ FriendlyName = $_ } } | Get-VirtualDisk -ErrorAction SilentlyContinue
        $names.FriendlyName | Should -Be 'Data', 'Other'
    }
}

BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-StorageSubSystem' {
    It 'answers to both names of Windows' {
        (Get-StorageSubSystem 'Storage Spaces*').HealthStatus | Should -Be 'Healthy'
        (Get-StorageSubSystem 'Windows Storage*').HealthStatus | Should -Be 'Healthy'
    }

    It 'finds itself from each of its objects' {
        (Get-StoragePool Pool1 | Get-StorageSubSystem).UniqueId | Should -Be (Get-StorageSubSystem).UniqueId
        (Get-PhysicalDisk Pool11 | Get-StorageSubSystem).UniqueId | Should -Be (Get-StorageSubSystem).UniqueId
    }
}

Describe 'Get-ResiliencySetting and Set-ResiliencySetting' {
    It 'lists the settings of a pool' {
        (Get-StoragePool Pool1 | Get-ResiliencySetting).Name | Should -Contain 'Simple'
        (Get-StoragePool Pool1 | Get-ResiliencySetting -Name Mirror).NumberOfDataCopiesDefault | Should -Be 2
    }

    It 'changes a default that the next virtual disk takes' {
        Get-StoragePool Pool1 | Get-ResiliencySetting -Name Mirror | Set-ResiliencySetting -InterleaveDefault 64KB
        (New-VirtualDisk Pool1 -FriendlyName Fine -Size 32MB).Interleave | Should -Be 64KB
    }
}

Describe 'Get-VirtualDiskSupportedSize' {
    It 'gives sizes that New-VirtualDisk takes' {
        $sizes = Get-StoragePool Pool1 | Get-VirtualDiskSupportedSize -ResiliencySettingName Simple
        $sizes.VirtualDiskSizeMin | Should -BeGreaterThan 0
        $sizes.VirtualDiskSizeMax | Should -BeGreaterThan $sizes.VirtualDiskSizeMin
        (New-VirtualDisk Pool1 -FriendlyName Least -ResiliencySettingName Simple -Size $sizes.VirtualDiskSizeMin).Size | Should -Be $sizes.VirtualDiskSizeMin
    }
}

Describe 'Get-PhysicalExtent' {
    It 'shows a mirror on two disks at every offset' {
        $extents = Get-VirtualDisk Data | Get-PhysicalExtent
        $extents | Group-Object VirtualDiskOffset, ColumnNumber | ForEach-Object {
            ($_.Group.PhysicalDiskUniqueId | Sort-Object -Unique).Count | Should -Be 2
        }
        (Get-PhysicalDisk -UniqueId $extents[0].PhysicalDiskUniqueId | Get-PhysicalExtent).VirtualDiskUniqueId | Should -Contain (Get-VirtualDisk Data).UniqueId
    }
}

Describe 'Get-StorageCounter' {
    It 'counts per virtual and per physical disk' {
        (Get-VirtualDisk Data | Get-StorageCounter).ObjectType | Should -Be 'VirtualDisk'
        (Get-StorageCounter -PhysicalDisk (Get-PhysicalDisk Pool11)).Writes | Should -BeGreaterThan 0
    }
}

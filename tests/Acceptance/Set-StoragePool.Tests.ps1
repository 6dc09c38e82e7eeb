BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $pool = New-TestPool
}

AfterAll {
    Stop-TestSession
}

Describe 'Set-StoragePool and Update-StoragePool' {
    It 'renames' {
        Set-StoragePool Pool1 -NewFriendlyName Renamed
        (Get-StoragePool Renamed).UniqueId | Should -Be $pool.UniqueId
        $pool | Set-StoragePool -NewFriendlyName Pool1
        (Get-StoragePool Pool1).UniqueId | Should -Be $pool.UniqueId
    }

    It 'sets defaults that the next virtual disk takes' {
        Get-StoragePool Pool1 | Set-StoragePool -ResiliencySettingNameDefault Simple -ProvisioningTypeDefault Thin
        $disk = New-VirtualDisk Pool1 -FriendlyName Data -Size 32MB
        $disk.ResiliencySettingName, $disk.ProvisioningType | Should -Be 'Simple', 'Thin'
    }

    It 'sets how often virtual disks are verified' {
        (Get-StoragePool Pool1).ScrubIntervalDays | Should -Be 14
        Set-StoragePool Pool1 -ScrubIntervalDays 30
        (Get-StoragePool Pool1).ScrubIntervalDays | Should -Be 30
        (Get-WrittenError { Set-StoragePool Pool1 -ScrubIntervalDays 4000 }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Set-StoragePool'
        (Get-StoragePool Pool1).ScrubIntervalDays | Should -Be 30
    }

    It 'sets how much it provides for write caches of other pools' {
        (Get-StoragePool Pool1).LentWriteCacheSizeMax, (Get-StoragePool Pool1).LentWriteCacheSize | Should -Be ([ulong]::MaxValue), 0
        Set-StoragePool Pool1 -LentWriteCacheSizeMax 1GB
        (Get-StoragePool Pool1).LentWriteCacheSizeMax | Should -Be 1GB
        Set-StoragePool Pool1 -LentWriteCacheSizeMax ([ulong]::MaxValue)
        (Get-StoragePool Pool1).LentWriteCacheSizeMax | Should -Be ([ulong]::MaxValue)
    }

    It 'asks before a pool is declared power-protected, and says so in the log of the host' {
        { Set-StoragePool Pool1 -IsPowerProtected $true } | Should -Throw '*NonInteractive*'
        (Get-StoragePool Pool1).IsPowerProtected | Should -BeFalse
        Set-StoragePool Pool1 -IsPowerProtected $true -WhatIf
        (Get-StoragePool Pool1).IsPowerProtected | Should -BeFalse
        Set-StoragePool Pool1 -IsPowerProtected $true -Confirm:$false -WarningVariable said -WarningAction SilentlyContinue
        (Get-StoragePool Pool1).IsPowerProtected | Should -BeTrue
        "$said" | Should -BeLike '*a power cut loses data*'
        Set-StoragePool Pool1 -IsPowerProtected $false
        (Get-StoragePool Pool1).IsPowerProtected | Should -BeFalse
        Get-Content (Join-Path $env:TIERSPACES_HOME host.log) -Raw | Should -Match 'Pool1 is power-protected.*(\n.*)*Pool1 is no longer power-protected'
    }

    It 'refuses parameters of two sets at once' {
        { Set-StoragePool Pool1 -NewFriendlyName X -IsReadOnly $true } | Should -Throw -ErrorId 'AmbiguousParameterSet*'
    }

    It 'leaves a pool of the newest version as it is' {
        Get-WrittenError { Update-StoragePool Pool1 -Confirm:$false } | Should -BeNullOrEmpty
        (Get-StoragePool Pool1).HealthStatus | Should -Be 'Healthy'
    }
}

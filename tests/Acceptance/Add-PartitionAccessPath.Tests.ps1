BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Add-PartitionAccessPath' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'mounts a volume at a folder too, also after a restart of the host' {
        Add-PartitionAccessPath -DriveLetter E -AccessPath "$PWD/also"
        Get-Content also/file | Should -Be 'text'
        $null = Stop-TierSpacesHost -KeepAttached -WarningAction Ignore
        Get-Content also/file | Should -Be 'text'
        (Get-Volume E).MountPoints.Count | Should -Be 2
    }

    It 'mounts a volume again that was unmounted by other means, as its fault says' {
        umount (Join-Path $env:TIERSPACES_VOLUME_ROOT E)
        $volume = Get-Volume E
        $volume.HealthStatus | Should -Be 'Warning'
        $command = [regex]::Match($volume.OtherOperationalStatusDescription, 'Run: (.*?)\.$').Groups[1].Value
        . ([scriptblock]::Create($command))
        (Get-Volume E).HealthStatus | Should -Be 'Healthy'
    }
}

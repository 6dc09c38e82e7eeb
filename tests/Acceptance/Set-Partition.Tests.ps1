BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Set-Partition' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'moves a volume to another letter' {
        Set-Partition -DriveLetter E -NewDriveLetter M
        Get-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT M/file) | Should -Be 'text'
        Test-Path (Join-Path $env:TIERSPACES_VOLUME_ROOT E) | Should -BeFalse
    }

    It 'keeps the access paths of a volume that is offline' {
        Set-Partition -DriveLetter M -IsOffline $true
        $null = Stop-TierSpacesHost
        (Get-Volume M).MountPoints | Should -BeNullOrEmpty
        Set-Partition -DriveLetter M -IsOffline $false
        Get-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT M/file) | Should -Be 'text'
    }
}

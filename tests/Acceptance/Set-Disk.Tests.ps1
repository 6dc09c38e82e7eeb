BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Set-Disk' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'takes a disk offline with its volumes, over a restart of the host, and back' {
        Set-Disk 1 -IsOffline $true
        $null = Stop-TierSpacesHost
        (Get-Disk 1).IsOffline | Should -BeTrue
        (Get-Volume E).MountPoints | Should -BeNullOrEmpty
        Set-Disk 1 -IsOffline $false
        Get-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT E/file) | Should -Be 'text'
    }

    It 'makes its device read-only' {
        Set-Disk 1 -IsReadOnly $true
        blockdev --getro (Get-Disk 1).Location | Should -Be 1
        { Set-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT E/other) 'x' -ErrorAction Stop } | Should -Throw
        Set-Disk 1 -IsReadOnly $false
        Set-Content (Join-Path $env:TIERSPACES_VOLUME_ROOT E/other) 'x'
    }

    It 'refuses to change nothing' {
        (Get-WrittenError { Set-Disk 1 }).Exception.Error.Word | Should -Be 'NothingToChange'
    }
}

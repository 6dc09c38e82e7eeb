BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Get-Partition' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'shows the documented columns' {
        Get-Partition | Out-String | Should -Match 'PartitionNumber\s+DriveLetter\s+Offset\s+Size\s+Type'
    }

    It 'names where the volume is' {
        (Get-Partition -DriveLetter E).AccessPaths | Should -Contain (Join-Path $env:TIERSPACES_VOLUME_ROOT E)
        (Get-Partition -DriveLetter E).AccessPaths | Should -Contain 'E:'
    }
}

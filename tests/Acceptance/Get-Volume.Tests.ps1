BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Get-Volume' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'shows the documented columns' {
        Get-Volume | Out-String -Width 200 | Should -Match 'DriveLetter\s+FriendlyName\s+FileSystemType\s+DriveType\s+HealthStatus\s+OperationalStatus\s+SizeRemaining\s+Size'
    }

    It 'goes down the pipeline and back' {
        (Get-VirtualDisk | Get-Disk | Get-Partition | Get-Volume).DriveLetter | Should -Be 'E'
        (Get-Volume E | Get-Partition | Get-Disk | Get-VirtualDisk).FriendlyName | Should -Be 'Data'
        (Get-Volume -FilePath (Join-Path $env:TIERSPACES_VOLUME_ROOT E/file)).DriveLetter | Should -Be 'E'
    }
}

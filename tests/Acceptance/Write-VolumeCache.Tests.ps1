BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Write-VolumeCache' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'writes what is cached to the virtual disk' {
        Write-VolumeCache E | Should -BeNullOrEmpty
        (Write-VolumeCache E -PassThru).DriveLetter | Should -Be 'E'
    }

    It 'is also called <_>' -ForEach 'Write-FileSystemCache', 'Flush-Volume' {
        (& $_ E -PassThru).DriveLetter | Should -Be 'E'
    }
}

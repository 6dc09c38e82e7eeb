BeforeDiscovery {
    . $PSScriptRoot/Session.ps1
    $noDisks = -not (Test-DiskSupport)
}

Describe 'Get-SupportedFileSystems' -Skip:$noDisks {
    BeforeAll {
        . $PSScriptRoot/Session.ps1
        Start-TestSession
        New-TestVolumeE
    }

    AfterAll {
        Stop-TestSession
    }

    It 'returns names that Format-Volume takes' {
        foreach ($name in Get-SupportedFileSystems E) {
            Format-Volume E -FileSystem $name -Force -Confirm:$false -WarningAction Ignore | Should -Not -BeNullOrEmpty
        }
    }
}

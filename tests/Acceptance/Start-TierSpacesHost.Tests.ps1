BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
}

AfterAll {
    Stop-TestSession
}

Describe 'Start-TierSpacesHost' {
    It 'starts a host where there is none, and leaves the one that runs' {
        { Get-TierSpacesHost } | Should -Throw -ErrorId 'StorageWMI 5,Get-TierSpacesHost'
        $started = Start-TierSpacesHost
        Get-Process -Id $started.ProcessId | Should -Not -BeNullOrEmpty
        (Start-TierSpacesHost).ProcessId | Should -Be $started.ProcessId
        (Get-TierSpacesHost).Home | Should -Be $env:TIERSPACES_HOME
    }

    It 'starts none with -WhatIf' {
        $null = Stop-TierSpacesHost
        Start-TierSpacesHost -WhatIf
        { Get-TierSpacesHost } | Should -Throw -ErrorId 'StorageWMI 5,Get-TierSpacesHost'
    }

    It 'opens the pools of its home' {
        $null = New-TestPool
        $null = Stop-TierSpacesHost
        (Start-TierSpacesHost).Pools | Should -Be 'Pool1'
    }
}

BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
    $null = New-VirtualDisk Pool1 -FriendlyName Data -Size 16MB
}

AfterAll {
    Stop-TestSession
}

Describe 'Stop-TierSpacesHost' {
    It 'returns when the process has ended' {
        $id = (Get-TierSpacesHost).ProcessId
        Stop-TierSpacesHost | Should -BeNullOrEmpty
        Get-Process -Id $id -ErrorAction Ignore | Should -BeNullOrEmpty
    }

    It 'does not start a host to stop it' {
        { Stop-TierSpacesHost } | Should -Throw -ErrorId 'StorageWMI 5,Stop-TierSpacesHost'
        { Get-TierSpacesHost } | Should -Throw -ErrorId 'StorageWMI 5,Get-TierSpacesHost'
    }

    It 'leaves nothing to repair' {
        (Get-VirtualDisk Data).HealthStatus | Should -Be 'Healthy'
        Get-StorageJob | Should -BeNullOrEmpty
    }

    It 'does nothing with -WhatIf' {
        $id = (Get-TierSpacesHost).ProcessId
        Stop-TierSpacesHost -WhatIf
        (Get-TierSpacesHost).ProcessId | Should -Be $id
    }
}

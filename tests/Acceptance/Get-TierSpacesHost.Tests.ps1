BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-TierSpacesHost and Stop-TierSpacesHost' {
    It 'shows the process, its version and its I/O backend with the reason' {
        $null = New-TestPool
        $server = Get-TierSpacesHost

        Get-Process -Id $server.ProcessId | Should -Not -BeNullOrEmpty
        $server.Version | Should -Not -BeNullOrEmpty
        $server.IOBackend | Should -Not -BeNullOrEmpty
        $server.IOBackendReason | Should -Not -BeNullOrEmpty
        $server.Lanes | Should -BeGreaterThan 0
    }

    It 'finds its pools again after a stop' {
        $before = (Get-TierSpacesHost).ProcessId
        $null = Stop-TierSpacesHost

        (Get-StoragePool Pool1).HealthStatus | Should -Be 'Healthy'
        (Get-TierSpacesHost).ProcessId | Should -Not -Be $before
    }
}

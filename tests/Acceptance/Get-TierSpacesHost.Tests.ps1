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

    It 'shows the worst health of all, and a line for each object that is not healthy' {
        (Get-TierSpacesHost).HealthStatus | Should -Be 'Healthy'
        (Get-TierSpacesHost).Faults | Should -BeNullOrEmpty
        $null = New-PhysicalDisk -Path emu.img -Size 256MB -LatencyProfile NVMe
        Set-EmulatedDiskFault emu -Pull
        (Get-TierSpacesHost).HealthStatus | Should -Be 'Unhealthy'
        (Get-TierSpacesHost).Faults | Should -Match "^Critical: physical disk 'emu': Lost Communication"
        Set-EmulatedDiskFault emu -Clear
        Unregister-PhysicalDisk emu -Confirm:$false
        (Get-TierSpacesHost).HealthStatus | Should -Be 'Healthy'
    }

    It 'finds its pools again after a stop' {
        $before = (Get-TierSpacesHost).ProcessId
        $null = Stop-TierSpacesHost

        (Get-StoragePool Pool1).HealthStatus | Should -Be 'Healthy'
        (Get-TierSpacesHost).ProcessId | Should -Not -Be $before
    }
}

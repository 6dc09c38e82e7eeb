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
        $null = New-PhysicalDisk -Path e1.img, e2.img, e3.img -Size 256MB -LatencyProfile NVMe
        $null = New-StoragePool -FriendlyName Emulated -StorageSubSystemFriendlyName * -PhysicalDisks (Get-PhysicalDisk e?)
        Set-EmulatedDiskFault e1 -Pull
        for ($i = 0; $i -lt 100 -and (Get-TierSpacesHost).HealthStatus -ne 'Warning'; $i++) { Start-Sleep -Milliseconds 100 }
        (Get-TierSpacesHost).Faults | Should -Match "^Warning: (physical disk 'e1' of storage pool 'Emulated': Lost Communication|storage pool 'Emulated': Degraded)"
        Get-PhysicalDisk e? | Set-EmulatedDiskFault -Pull
        for ($i = 0; $i -lt 100 -and (Get-TierSpacesHost).HealthStatus -ne 'Unhealthy'; $i++) { Start-Sleep -Milliseconds 100 }
        (Get-TierSpacesHost).Faults[0] | Should -Match "^Critical: storage pool 'Emulated': Incomplete"
        Get-PhysicalDisk e? | Set-EmulatedDiskFault -Clear
        for ($i = 0; $i -lt 100 -and (Get-TierSpacesHost).HealthStatus -ne 'Healthy'; $i++) { Start-Sleep -Milliseconds 100 }
        (Get-TierSpacesHost).HealthStatus | Should -Be 'Healthy'
    }

    It 'finds its pools again after a stop' {
        $before = (Get-TierSpacesHost).ProcessId
        $null = Stop-TierSpacesHost

        (Get-StoragePool Pool1).HealthStatus | Should -Be 'Healthy'
        (Get-TierSpacesHost).ProcessId | Should -Not -Be $before
    }
}

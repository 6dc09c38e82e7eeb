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

    It 'is refused while a virtual disk is in use, unless the device waits or is taken away' {
        $null = Connect-VirtualDisk Data
        $device = (Get-VirtualDisk Data).DevicePath
        if (-not $device) { Set-ItResult -Skipped -Because 'there are no block devices here' }
        $user = [IO.File]::OpenRead((Get-Item $device).ResolveLinkTarget($true).FullName)
        try {
            $failure = Get-WrittenError { Stop-TierSpacesHost }
            $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 6,Stop-TierSpacesHost'
            "$failure" | Should -Match "Virtual disk 'Data': /dev/\S+ is opened by process $PID"
            Get-WrittenError { Stop-TierSpacesHost -Force -KeepAttached } | Should -Match 'cannot be used with -Force'
            Stop-TierSpacesHost -KeepAttached -WarningVariable said -WarningAction SilentlyContinue
            "$said" | Should -Match "Virtual disk 'Data' keeps $((Get-Item $device).ResolveLinkTarget($true).FullName): its requests wait"
            $null = Start-TierSpacesHost
            (Get-VirtualDisk Data).DevicePath | Should -Be $device
            Stop-TierSpacesHost -Force
            $null = Start-TierSpacesHost
        } finally {
            $user.Dispose()
        }
    }
}

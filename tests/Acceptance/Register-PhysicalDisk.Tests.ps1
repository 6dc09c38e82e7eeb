BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
}

AfterAll {
    Stop-TestSession
}

Describe 'Register-PhysicalDisk and Unregister-PhysicalDisk' {
    It 'makes an existing file a disk, and forgets it again' {
        [IO.File]::Create((Join-Path $SessionFolder 'plain.img')).Dispose()
        truncate -s 128M plain.img

        $disk = Register-PhysicalDisk plain.img
        $disk.Path | Should -Be (Join-Path $SessionFolder 'plain.img')
        $disk.CanPool | Should -Be $true

        Unregister-PhysicalDisk -Path plain.img
        Get-PhysicalDisk 'plain*' | Should -BeNullOrEmpty
        'plain.img' | Should -Exist
    }

    It 'pools a RAID volume only with -Force, and says what it hides' {
        $file = [IO.File]::Create((Join-Path $SessionFolder volume.img))
        $file.SetLength(64MB)
        $file.Dispose()
        (Register-PhysicalDisk volume.img -BusType RAID -WarningAction SilentlyContinue).CanPool | Should -BeFalse
        Unregister-PhysicalDisk volume
        $forced = Register-PhysicalDisk volume.img -BusType RAID -Force -WarningVariable warned -WarningAction SilentlyContinue
        $forced.CanPool | Should -BeTrue
        "$warned" | Should -Match 'identity and health of the disks below are hidden'
        Unregister-PhysicalDisk volume
    }

    It 'opens the pool on images that come from elsewhere' {
        $pool = New-TestPool Moved
        $null = New-VirtualDisk Moved -FriendlyName Data -Size 32MB
        $null = Stop-TierSpacesHost
        $null = New-Item -ItemType Directory elsewhere
        Move-Item 'Moved*.img' elsewhere
        $env:TIERSPACES_HOME = Join-Path $SessionFolder 'home2'

        $null = Get-ChildItem elsewhere/*.img | ForEach-Object { Register-PhysicalDisk $_.FullName }

        (Get-StoragePool Moved).UniqueId | Should -Be $pool.UniqueId
        $end = (Get-Date).AddSeconds(20)   # another host closed it: it opens within 15 s
        while ((Get-VirtualDisk Data).HealthStatus -ne 'Healthy' -and (Get-Date) -lt $end) { Start-Sleep -Milliseconds 200 }
        (Get-VirtualDisk Data).HealthStatus | Should -Be 'Healthy'
    }

    It 'refuses a file that does not exist' {
        $failure = Get-WrittenError { Register-PhysicalDisk nowhere.img }

        $failure.FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Register-PhysicalDisk'
        "$failure" | Should -BeLike '*nowhere.img*'
    }

    It 'does not forget a member of a pool' {
        $failure = Get-WrittenError { Get-StoragePool Moved | Get-PhysicalDisk | Select-Object -First 1 | Unregister-PhysicalDisk }

        $failure.FullyQualifiedErrorId | Should -BeLike 'StorageWMI *,Unregister-PhysicalDisk'
    }
}

BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $volume = New-TestTieredVolume
    $null = New-VirtualDisk Pool1 -FriendlyName Plain -Size 8MB -ResiliencySettingName Simple -WriteCacheSize 0 -WarningAction Ignore
}

AfterAll {
    Remove-TestVolume
    Stop-TestSession
}

Describe 'Optimize-Volume' {
    It 'brings what is used to the fast tier, of the disk that a mount point or a device is on' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        foreach ($i in 1..20) {
            [IO.File]::WriteAllText('/proc/sys/vm/drop_caches', '1')
            $null = [IO.File]::ReadAllBytes("$volume/file")
        }

        $hash = (Get-FileHash $volume/file).Hash
        $told = Optimize-Volume -Path $volume -TierOptimize -Verbose 4>&1
        ($told.Message -join "`n") | Should -BeLike "*Virtual disk 'Data': [1-9]* MB moved to faster tiers*Storage Tier Optimization Report:*"
        (Get-StorageCounter -VirtualDisk (Get-VirtualDisk Data) | Where-Object FriendlyName -EQ Data_Fast).SlicesMovedIn | Should -BeGreaterThan 0
        [IO.File]::WriteAllText('/proc/sys/vm/drop_caches', '1')
        (Get-FileHash $volume/file).Hash | Should -Be $hash
        Optimize-Volume -Path $volume/file, (Get-VirtualDisk Data).DevicePath -TierOptimize | Should -BeNullOrEmpty
    }

    It 'takes the name of the virtual disk for the label, and virtual disks from the pipeline' {
        Optimize-Volume -FileSystemLabel Data -TierOptimize | Should -BeNullOrEmpty
        (Optimize-Volume -FileSystemLabel 'Da*' -Verbose 4>&1)[-1].Message | Should -BeLike '*Storage Tier Optimization Report:*'
        Optimize-Volume -ObjectId (Get-VirtualDisk Data).ObjectId -TierOptimize -NormalPriority -WarningVariable remark -WarningAction SilentlyContinue
        "$remark" | Should -BeLike '-NormalPriority has no effect*'
        $told = Get-VirtualDisk Data | Optimize-Volume -TierOptimize -Verbose 4>&1
        $told[-1].Message | Should -BeLike "Virtual disk 'Data': *"
    }

    It 'does nothing with -WhatIf' {
        $jobs = @(Get-StorageJob).Count
        Optimize-Volume -FileSystemLabel Data -TierOptimize -WhatIf
        @(Get-StorageJob).Count | Should -Be $jobs
    }

    It 'refuses what it does not do, and says so' {
        (Get-WrittenError { Optimize-Volume D -TierOptimize }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_DriveLetter,Optimize-Volume'
        "$(Get-WrittenError { Optimize-Volume -FileSystemLabel Plain -ReTrim })" | Should -BeLike '*-ReTrim: *no volume*'
        (Get-WrittenError { Optimize-Volume -FileSystemLabel Plain -TierOptimize }).FullyQualifiedErrorId | Should -Be 'StorageWMI 1,Optimize-Volume'
        (Get-WrittenError { Optimize-Volume -FileSystemLabel Nobody }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FileSystemLabel,Optimize-Volume'
        (Get-WrittenError { Optimize-Volume -Path /nowhere }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Optimize-Volume'
    }
}

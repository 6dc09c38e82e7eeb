BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-StorageDiskProfile' {
    It 'lists every class, the slowest first' {
        (Get-StorageDiskProfile).Name | Should -Be 'HDD5400', 'HDD7200', 'HDD10K', 'HDD15K', 'SSDSata', 'SSDSas', 'NVMe'
        Get-StorageDiskProfile | Out-String -Width 200 | Should -BeLike '*Name*MediaType*SpindleSpeed*RandomReadIops*'
    }

    It 'has the figures of <Name>' -ForEach @(
        @{ Name = 'HDD5400'; Least = 55; Most = 65 }
        @{ Name = 'HDD7200'; Least = 75; Most = 100 }
        @{ Name = 'HDD10K'; Least = 135; Most = 155 }
        @{ Name = 'HDD15K'; Least = 190; Most = 210 }
        @{ Name = 'SSDSata'; Least = 50000; Most = 100000 }
        @{ Name = 'NVMe'; Least = 300000; Most = 500000 }
    ) {
        $profile = Get-StorageDiskProfile $Name
        $profile.RandomReadIops | Should -BeGreaterOrEqual $Least
        $profile.RandomReadIops | Should -BeLessOrEqual $Most
        $profile.BytesPerSecond | Should -BeGreaterThan 100MB
    }

    It 'names profiles that New-PhysicalDisk takes' {
        foreach ($profile in Get-StorageDiskProfile) {
            $disk = New-PhysicalDisk "$($profile.Name).img" 64MB -LatencyProfile $profile.Name
            $disk.MediaType, $disk.BusType, $disk.SpindleSpeed | Should -Be $profile.MediaType, $profile.BusType, $profile.SpindleSpeed
        }
    }

    It 'selects by wildcard and says what is not there' {
        (Get-StorageDiskProfile HDD*).Count | Should -Be 4
        (Get-WrittenError { Get-StorageDiskProfile Tape }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_Name,Get-StorageDiskProfile'
    }

    It 'is listed by the help of the command line' {
        $program = Join-Path (Split-Path $TestModule) 'bin/host/tierspaces'
        "$(& $program New-PhysicalDisk --help)" | Should -Match 'HDD5400, HDD7200, HDD10K, HDD15K, SSDSata, SSDSas, NVMe'
    }
}

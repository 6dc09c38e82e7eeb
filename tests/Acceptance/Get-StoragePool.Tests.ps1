BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $pool = New-TestPool
    $disk = New-VirtualDisk Pool1 -FriendlyName Data -Size 64MB
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-StoragePool' {
    It 'selects by name, wildcard, identifier and state' {
        (Get-StoragePool Pool1).UniqueId | Should -Be $pool.UniqueId
        (Get-StoragePool P*1).UniqueId | Should -Be $pool.UniqueId
        (Get-StoragePool -UniqueId $pool.UniqueId).FriendlyName | Should -Be 'Pool1'
        (Get-StoragePool -IsPrimordial $false).FriendlyName | Should -Be 'Pool1'
    }

    It 'finds the pool of an object from the pipeline' {
        ($disk | Get-StoragePool).FriendlyName | Should -Be 'Pool1'
        (Get-PhysicalDisk Pool11 | Get-StoragePool -IsPrimordial $false).FriendlyName | Should -Be 'Pool1'
    }

    It 'runs as a job' {
        $job = Get-StoragePool Pool1 -AsJob
        ($job | Receive-Job -Wait -AutoRemoveJob).FriendlyName | Should -Be 'Pool1'
    }

    It 'accepts this machine as a session and no other' {
        (Get-StoragePool Pool1 -CimSession localhost).FriendlyName | Should -Be 'Pool1'
        { Get-StoragePool Pool1 -CimSession elsewhere } | Should -Throw -ErrorId 'StorageWMI 1,Get-StoragePool'
    }

    It 'prints the columns of Windows' {
        $lines = (Get-StoragePool Pool1 | Out-String -Width 200).Trim() -split '\r?\n'
        $lines[0] -split '\s+' | Should -Be 'FriendlyName', 'OperationalStatus', 'HealthStatus', 'IsPrimordial', 'IsReadOnly', 'Size', 'AllocatedSize'
        $lines[2] | Should -Match '^Pool1\s+OK\s+Healthy\s+False\s+False\s+\S+ [MG]B\s+\S+ MB$'
    }

    It 'refuses a name that does not exist' {
        (Get-WrittenError { Get-StoragePool nothing }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FriendlyName,Get-StoragePool'
    }
}

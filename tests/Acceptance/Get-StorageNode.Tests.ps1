BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $null = New-TestPool
}

AfterAll {
    Stop-TestSession
}

Describe 'Get-StorageNode' {
    It 'is this machine, whichever of its objects is given' {
        $node = Get-StorageNode
        $node.OperationalStatus | Should -Be 'Up'
        (Get-StoragePool Pool1 | Get-StorageNode).UniqueId | Should -Be $node.UniqueId
        (Get-PhysicalDisk Pool11 | Get-StorageNode).UniqueId | Should -Be $node.UniqueId
        (Get-StorageSubSystem | Get-StorageNode).UniqueId | Should -Be $node.UniqueId
        @($node | Get-PhysicalDisk).Count | Should -Be @(Get-PhysicalDisk).Count
    }

    It 'binds names by parameter and property' {
        (Get-StorageNode -Name (Get-StorageNode).Name).OperationalStatus | Should -Be 'Up'
        (Get-StorageNode | Get-StorageNode).OperationalStatus | Should -Be 'Up'
        Get-StorageNode -OperationalStatus Down | Should -BeNullOrEmpty
    }

    It 'says what is not there' {
        Get-StorageNode -Name Mars -ErrorVariable failure -ErrorAction SilentlyContinue
        $failure.FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_Name,Get-StorageNode'
    }
}

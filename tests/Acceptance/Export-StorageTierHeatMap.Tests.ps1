BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $volume = New-TestTieredVolume
    $data = Get-VirtualDisk Data
    $plain = New-VirtualDisk Pool1 -FriendlyName Plain -Size 8MB -MediaType HDD -WriteCacheSize 0
}

AfterAll {
    Remove-TestVolume
    Stop-TestSession
}

Describe 'Export-StorageTierHeatMap' {
    It 'writes a file, and over one only with -Force' {
        Export-StorageTierHeatMap Data map.heat -WhatIf
        'map.heat' | Should -Not -Exist
        $file = Export-StorageTierHeatMap -FriendlyName Data -Path map.heat -Confirm:$false
        $file.Path | Should -Be (Get-Item map.heat).FullName
        $file.Size | Should -Be (Get-Item map.heat).Length
        $file.SliceSize, $file.VirtualDiskFriendlyName, $file.SourceUniqueId | Should -Be 1MB, 'Data', $data.UniqueId
        (Get-WrittenError { Export-StorageTierHeatMap -UniqueId $data.UniqueId map.heat }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Export-StorageTierHeatMap'
        ($data | Export-StorageTierHeatMap -Path map.heat -Force).TimeWritten | Should -BeGreaterOrEqual $file.TimeWritten
        (Export-StorageTierHeatMap -InputObject $data -Path map2.heat).SliceSize | Should -Be 1MB
    }

    It 'refuses what has no tiers, and a folder that is not there' {
        (Get-WrittenError { Export-StorageTierHeatMap Plain plain.heat }).FullyQualifiedErrorId | Should -Be 'StorageWMI 1,Export-StorageTierHeatMap'
        'plain.heat' | Should -Not -Exist
        (Get-WrittenError { Export-StorageTierHeatMap Data nowhere/map.heat }).FullyQualifiedErrorId | Should -Be 'StorageWMI 5,Export-StorageTierHeatMap'
    }
}

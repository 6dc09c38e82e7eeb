BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $volume = New-TestTieredVolume
    if ($volume) { Set-FileStorageTier -FilePath $volume/file -DesiredStorageTierFriendlyName Data_Slow }
}

AfterAll {
    Remove-TestVolume
    Stop-TestSession
}

Describe 'Get-FileStorageTier' {
    It 'lists pinned files of a volume and one by its path' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        (Get-FileStorageTier -VolumePath $volume).FilePath | Should -Be "$volume/file"
        Push-Location $volume
        (Get-FileStorageTier -FilePath ./file).PlacementStatus | Should -Be 'Completely on tier'
        Pop-Location
        [pscustomobject]@{ FilePath = "$volume/file" } | Get-FileStorageTier | ForEach-Object DesiredStorageTierClass | Should -Be 'Capacity'
    }

    It 'prints the table of Windows' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        Get-FileStorageTier -VolumePath $volume | Out-String -Width 200 | Should -Match 'FilePath\s+DesiredStorageTierName\s+PlacementStatus\s+State'
    }

    It 'does not know a file that is not pinned, drive letters and volume objects' {
        (Get-WrittenError { Get-FileStorageTier -FilePath /nothing }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FilePath,Get-FileStorageTier'
        (Get-WrittenError { Get-FileStorageTier -VolumeDriveLetter D }).FullyQualifiedErrorId | Should -Be 'StorageWMI 1,Get-FileStorageTier'
    }
}

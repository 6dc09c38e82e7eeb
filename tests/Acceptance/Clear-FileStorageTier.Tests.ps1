BeforeAll {
    . $PSScriptRoot/Session.ps1
    Start-TestSession
    $volume = New-TestTieredVolume
    if ($volume) { 'file', 'filler' | ForEach-Object { Set-FileStorageTier -FilePath $volume/$_ -DesiredStorageTierFriendlyName Data_Slow } }
}

AfterAll {
    Remove-TestVolume
    Stop-TestSession
}

Describe 'Clear-FileStorageTier' {
    It 'does nothing with -WhatIf' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        Clear-FileStorageTier -FilePath $volume/file -WhatIf
        @(Get-FileStorageTier -VolumePath $volume).Count | Should -Be 2
    }

    It 'takes a pin away, also of a file that is deleted, and from the pipeline' {
        if (-not $volume) { Set-ItResult -Skipped -Because 'it needs root and FUSE'; return }

        Remove-Item $volume/file
        Clear-FileStorageTier -FilePath $volume/file | Should -BeNullOrEmpty
        (Get-FileStorageTier -VolumePath $volume).FilePath | Should -Be "$volume/filler"
        Get-FileStorageTier -VolumePath $volume | Clear-FileStorageTier
        Get-FileStorageTier -VolumePath $volume | Should -BeNullOrEmpty
    }

    It 'does not know a file that is not pinned' {
        (Get-WrittenError { Clear-FileStorageTier -FilePath /nothing }).FullyQualifiedErrorId | Should -Be 'CmdletizationQuery_NotFound_FilePath,Clear-FileStorageTier'
    }
}

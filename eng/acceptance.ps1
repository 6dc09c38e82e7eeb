# Runs the acceptance tests, all or those of the files in -Path (commas between them), and writes "passed failed skipped" to a
# file, which is what eng/test.sh adds up. With -Package the module comes from that package, installed where nothing of the
# repository is near; else it is the one of this tree. What failed is named in a file beside that of the counts, .failed at
# its end.
param(
    [Parameter(Mandatory)] [string] $CountsTo,
    [string] $Path = (Join-Path $PSScriptRoot '../tests/Acceptance'),
    [string] $Package
)

$ErrorActionPreference = 'Stop'
Import-Module Pester -MinimumVersion 5.7

if ($Package) {
    $modules = Join-Path ([IO.Path]::GetTempPath()) "ps$PID-modules"
    $env:TIERSPACES_TEST_MODULE = & (Join-Path $PSScriptRoot 'unpack.ps1') -Package $Package -To $modules
    $env:TIERSPACES_TEST_PACKAGE = Resolve-Path $Package
}

$configuration = New-PesterConfiguration
$configuration.Run.Path = $Path -split ','
$configuration.Run.PassThru = $true
$configuration.Output.Verbosity = 'Detailed'
$configuration.Output.RenderMode = 'Plaintext'
$result = Invoke-Pester -Configuration $configuration
if ($Package) {
    Remove-Item -Recurse -Force $modules
}

# A block or file that broke before its tests ran is a failure that no test reports.
$failed = $result.FailedCount + $result.FailedBlocksCount + $result.FailedContainersCount
"$($result.PassedCount) $failed $($result.SkippedCount + $result.NotRunCount)" | Set-Content -LiteralPath $CountsTo
$result.Failed + $result.FailedBlocks + $result.FailedContainers | ForEach-Object {
    "FAILED acceptance: $($_.ExpandedPath ?? $_.Item)"
    $_.ErrorRecord | Select-Object -First 1 | ForEach-Object { "    $("$_".Split("`n") | Select-Object -First 6 | Join-String -Separator "`n    ")" }
} | Set-Content -LiteralPath "$CountsTo.failed"
exit [int]($failed -gt 0)

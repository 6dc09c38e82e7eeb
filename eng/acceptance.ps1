# Runs the acceptance tests and writes "passed failed skipped" to a file, which is what eng/test.sh adds up. With -Package the module
# comes from that package, installed where nothing of the repository is near; else it is the one of this tree.
param(
    [Parameter(Mandatory)] [string] $CountsTo,
    [string[]] $Path = (Join-Path $PSScriptRoot '../tests/Acceptance'),
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
$configuration.Run.Path = $Path
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
exit [int]($failed -gt 0)

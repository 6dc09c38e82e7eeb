# Runs the acceptance tests and writes "passed failed skipped" to a file, which is what eng/test.sh adds up.
param(
    [Parameter(Mandatory)] [string] $CountsTo,
    [string[]] $Path = (Join-Path $PSScriptRoot '../tests/Acceptance')
)

$ErrorActionPreference = 'Stop'
Import-Module Pester -MinimumVersion 5.7

$configuration = New-PesterConfiguration
$configuration.Run.Path = $Path
$configuration.Run.PassThru = $true
$configuration.Output.Verbosity = 'Detailed'
$configuration.Output.RenderMode = 'Plaintext'
$result = Invoke-Pester -Configuration $configuration

# A block or file that broke before its tests ran is a failure that no test reports.
$failed = $result.FailedCount + $result.FailedBlocksCount + $result.FailedContainersCount
"$($result.PassedCount) $failed $($result.SkippedCount + $result.NotRunCount)" | Set-Content -LiteralPath $CountsTo
exit [int]($failed -gt 0)

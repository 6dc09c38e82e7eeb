# Binds the cases of a file with the binder of this shell, and writes for each the parameter set and the parameters that were bound, or the error.
# A cmdlet is replaced by a function with its parameters, so that no host is needed. A function converts before it binds, so that its objects are of
# the general type. The cases and the results are JSON.
param([string] $Module, [string] $Cases, [string] $Results)

$ErrorActionPreference = 'Stop'
Import-Module $Module

function ConvertTo-Value($Value) {
    if ($Value.TypeNames) {
        $object = [pscustomobject] $Value.Properties
        for ($i = 0; $i -lt $Value.TypeNames.Count; $i++) { $object.PSTypeNames.Insert($i, $Value.TypeNames[$i]) }
        return $object
    }

    $Value.Text ?? $Value.Number ?? $Value.Flag
}

$name = ''
$answers = foreach ($case in Get-Content -Raw $Cases | ConvertFrom-Json -AsHashtable) {
    if ($case.Cmdlet -ne $name) {
        $name = $case.Cmdlet
        $metadata = [Management.Automation.CommandMetadata]::new((Get-Command $name -CommandType Cmdlet))
        $parameters = [Management.Automation.ProxyCommand]::GetParamBlock($metadata) -replace '\[TierSpaces\.Cmdlets\.\w+Argument\]', '[psobject]'
        $head = "$([Management.Automation.ProxyCommand]::GetCmdletBindingAttribute($metadata)) param($parameters)"
        Set-Item function:Test-Binding ([scriptblock]::Create("$head process { `"`$(`$PSCmdlet.ParameterSetName)|`$(@(`$PSBoundParameters.Keys | Sort-Object) -join ' ')`" }"))
    }

    $named = @{}
    foreach ($one in $case.Named.GetEnumerator()) { $named[$one.Key] = ConvertTo-Value $one.Value }
    $positional = @($case.Positional | ForEach-Object { ConvertTo-Value $_ })
    $piped = @($case.Piped | ForEach-Object { ConvertTo-Value $_ })
    try {
        $bound = if ($piped) { $piped | Test-Binding @positional @named } else { Test-Binding @positional @named }
        @{ Bound = @($bound); Error = '' }
    }
    catch {
        @{ Bound = @(); Error = $_.FullyQualifiedErrorId }
    }
}

ConvertTo-Json @($answers) -Depth 4 -Compress | Set-Content $Results

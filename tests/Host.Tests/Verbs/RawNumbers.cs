using System.Text.Json;
using System.Text.RegularExpressions;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>Sizes that a message has as raw bytes. Texts in quotes are names or what was typed; bytes in parentheses follow the rounded size.</summary>
internal static partial class RawNumbers
{
    /// <summary>Fails when a text of a reply (an error, a warning or a step of WhatIf) has a raw number of seven digits or more.</summary>
    /// <param name="reply">The reply.</param>
    /// <param name="given">A number that is no size and was given: a message repeats it.</param>
    internal static void AssertNone(JsonElement reply, string given = "")
    {
        foreach (string member in (string[])["Errors", "Warnings", "Steps"])
        {
            if (reply.TryGetProperty(member, out JsonElement texts))
            {
                AssertNone(texts.ToString(), given);
            }
        }
    }

    /// <summary>Fails when a text has a raw number of seven digits or more.</summary>
    internal static void AssertNone(string text, string given = "") => Assert.True(
        Number().Matches(Quoted().Replace(text.Replace("\\u0027", "'"), "''")).All(match => match.Value == given), text);

    [GeneratedRegex(@"'[^']*'")]
    private static partial Regex Quoted();

    [GeneratedRegex(@"(?<![\w/.-])\d{7,}(?![\w-]| bytes\))")]
    private static partial Regex Number();
}

using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Tests.Lanes;

/// <summary>
/// Runs code on a thread whose system calls are filtered as a container's are (seccomp). Threads it starts inherit the
/// filter; the rest of the process is untouched.
/// </summary>
public static unsafe class SystemCallFilter
{
    [StructLayout(LayoutKind.Sequential)]
    private struct Instruction(ushort code, byte whenTrue, byte whenFalse, uint operand)
    {
        internal ushort Code = code;
        internal byte WhenTrue = whenTrue;
        internal byte WhenFalse = whenFalse;
        internal uint Operand = operand;
    }

    [StructLayout(LayoutKind.Sequential)]
    private struct Program
    {
        internal ushort Length;
        internal Instruction* Instructions;
    }

    /// <summary>Answers one system call with an errno while <paramref name="work"/> runs.</summary>
    public static void RunWithout(int systemCall, int errno, Action work)
    {
        Exception? failure = null;
        Thread thread = new(() =>
        {
            try
            {
                Install((uint)systemCall, (uint)errno);
                work();
            }
            catch (Exception error)
            {
                failure = error;
            }
        });
        thread.Start();
        thread.Join();
        if (failure is not null)
        {
            throw new InvalidOperationException(failure.Message, failure);
        }
    }

    private static void Install(uint systemCall, uint errno)
    {
        const ushort load = 0x20, jumpIfEqual = 0x15, answer = 0x06;
        const uint allow = 0x7fff0000, refuse = 0x00050000;
        const int setNoNewPrivileges = 38, setFilter = 22, filterMode = 2;
        Instruction* instructions = stackalloc Instruction[]
        {
            new(load, 0, 0, 0),
            new(jumpIfEqual, 0, 1, systemCall),
            new(answer, 0, 0, refuse | errno),
            new(answer, 0, 0, allow),
        };
        Program program = new() { Length = 4, Instructions = instructions };
        if (Libc.ProcessControl(setNoNewPrivileges, 1, 0, 0, 0) != 0
            || Libc.ProcessControl(setFilter, filterMode, (nuint)(&program), 0, 0) != 0)
        {
            Assert.Skip($"This system does not let a thread filter its system calls: {Errno.Describe(Libc.LastError())}.");
        }
    }
}

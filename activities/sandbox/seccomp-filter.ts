import { auditArchitecture, newestKnownSyscall, numberOf, pretendedSyscalls, refusedSyscalls } from './syscalls.ts';
import type { Architecture, Syscall } from './syscalls.ts';

interface Instruction {
  code: number;
  whenTrue: number;
  whenFalse: number;
  operand: number;
}

const loadWord = 0x20;
const jumpIfEqual = 0x15;
const jumpIfGreater = 0x25;
const jumpIfGreaterOrEqual = 0x35;
const jumpIfAnyBit = 0x45;
const answer = 0x06;

const allow = 0x7fff0000;
const killProcess = 0x80000000;
const fail = (errno: number) => 0x00050000 | errno;
const pretend = fail(0);
const notPermitted = fail(1);
const invalid = fail(22);
const noSuchCall = fail(38);
const notSupported = fail(95);
const noSuchFamily = fail(97);

/** Offsets in `struct seccomp_data` of the call number, the architecture and the halves of an argument. */
const numberAt = 0;
const architectureAt = 4;
const argumentAt = (index: number) => 16 + 8 * index;
const highHalfAt = (index: number) => argumentAt(index) + 4;

const x32Bit = 0x40000000;
const newUserNamespace = 0x10000000;
/** Bit that the file types of character and block devices have, and no other type that `mknod` makes. */
const deviceType = 0x2000;
const internetFamilies = [2, 10];
/** `TIOCSTI` and `TIOCLINUX` inject text into a terminal's input. */
const terminalInput = [0x5412, 0x541c];
/** `FS_IOC_RESVSP`, `FS_IOC_RESVSP64` and `FS_IOC_ZERO_RANGE` allocate like `fallocate`. */
const allocations = [0x40305828, 0x4030582a, 0x40305839];
/** Largest segment of System V memory, which PostgreSQL makes one of: all that a command may have take 16 MB. */
const segmentBytes = 4_096;
/** `SHM_HUGETLB`, which rounds a segment up to a huge page. */
const hugePages = 0o4000;
/** Linux's own personality, and the value that queries the current one. */
const plainPersonalities = [0, 0xffffffff];

/**
 * Returns the system call filter in the format of `bwrap --seccomp`. Calls of another architecture kill the process,
 * only internet sockets are allowed, and calls that could reach the kernel, other processes or a new user namespace are
 * refused. For an installer, calls that need a real root succeed without an effect.
 */
export function seccompFilter(architecture: Architecture, { isInstaller = false } = {}): Buffer {
  const program = [
    load(architectureAt),
    ...unless(jumpIfEqual, auditArchitecture[architecture], killProcess),
    load(numberAt),
    ...(architecture === 'x64' ? when(jumpIfGreaterOrEqual, x32Bit, noSuchCall) : []),
    ...when(jumpIfGreater, newestKnownSyscall, noSuchCall),
    ...refusedSyscalls.flatMap((name) => refuse(name, notPermitted)),
    ...(isInstaller ? pretendedSyscalls.flatMap((name) => refuse(name, pretend)) : []),
    ...(isInstaller ? lookInto('mknod', 1, when(jumpIfAnyBit, deviceType, pretend)) : []),
    ...(isInstaller ? lookInto('mknodat', 2, when(jumpIfAnyBit, deviceType, pretend)) : []),
    // glibc falls back to clone, whose flags are visible to the filter
    ...refuse('clone3', noSuchCall),
    // it can reserve gigabytes between two disk measurements; glibc's posix_fallocate falls back to writing
    ...refuse('fallocate', notSupported),
    ...lookInto('clone', 0, when(jumpIfAnyBit, newUserNamespace, notPermitted)),
    // `groupadd` continues only without the family of the audit daemon
    ...lookInto('socket', 0, unlessOneOf(internetFamilies, isInstaller ? noSuchFamily : notPermitted)),
    ...lookInto('ioctl', 1, [
      ...terminalInput.flatMap((request) => when(jumpIfEqual, request, notPermitted)),
      ...allocations.flatMap((request) => when(jumpIfEqual, request, notSupported)),
    ]),
    ...lookInto('shmget', 1, [
      ...when(jumpIfGreater, segmentBytes, notPermitted),
      load(highHalfAt(1)),
      ...when(jumpIfGreater, 0, notPermitted),
      load(argumentAt(2)),
      ...when(jumpIfAnyBit, hugePages, notPermitted),
    ]),
    ...lookInto('personality', 0, unlessOneOf(plainPersonalities, invalid)),
    give(allow),
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, { code, whenTrue, whenFalse, operand }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(whenTrue, index * 8 + 2);
    bytes.writeUInt8(whenFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4);
  }
  return bytes;

  function refuse(name: Syscall, verdict: number): Instruction[] {
    const number = numberOf(name, architecture);
    return number === null ? [] : when(jumpIfEqual, number, verdict);
  }

  /** Checks an argument of one call, and allows the call when no check matches. */
  function lookInto(name: Syscall, argument: number, checks: Instruction[]): Instruction[] {
    const number = numberOf(name, architecture);
    if (number === null) return [];
    const body = [load(argumentAt(argument)), ...checks, give(allow)];
    return [{ code: jumpIfEqual, whenTrue: 0, whenFalse: body.length, operand: number }, ...body];
  }
}

function load(offset: number): Instruction {
  return { code: loadWord, whenTrue: 0, whenFalse: 0, operand: offset };
}

function give(verdict: number): Instruction {
  return { code: answer, whenTrue: 0, whenFalse: 0, operand: verdict };
}

function when(code: number, operand: number, verdict: number): Instruction[] {
  return [{ code, whenTrue: 0, whenFalse: 1, operand }, give(verdict)];
}

function unless(code: number, operand: number, verdict: number): Instruction[] {
  return [{ code, whenTrue: 1, whenFalse: 0, operand }, give(verdict)];
}

function unlessOneOf(values: number[], verdict: number): Instruction[] {
  const checks = values.map((operand, index) => {
    return { code: jumpIfEqual, whenTrue: values.length - index, whenFalse: 0, operand };
  });
  return [...checks, give(verdict)];
}

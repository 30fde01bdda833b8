import { describe, expect, it } from 'vitest';
import { seccompFilter } from '../../../../activities/sandbox/seccomp-filter.ts';
import {
  auditArchitecture,
  numberOf,
  pretendedSyscalls,
  refusedSyscalls,
  type Architecture,
} from '../../../../activities/sandbox/syscalls.ts';

/** Runs a filter as the kernel does and returns its verdict. */
function verdictOf(filter: Buffer, { arch, nr, args = [] }: { arch: number; nr: number; args?: number[] }): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(nr >>> 0, 0);
  data.writeUInt32LE(arch, 4);
  for (const [index, value] of args.entries()) data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + 8 * index);
  let loaded = 0;
  for (let at = 0; at < filter.length / 8; at += 1) {
    const [code, yes, no, operand] = [
      filter.readUInt16LE(at * 8),
      filter[at * 8 + 2]!,
      filter[at * 8 + 3]!,
      filter.readUInt32LE(at * 8 + 4),
    ];
    if (code === 0x06) return operand;
    if (code === 0x20) loaded = data.readUInt32LE(operand);
    else if (code === 0x15) at += loaded === operand ? yes : no;
    else if (code === 0x25) at += loaded > operand ? yes : no;
    else if (code === 0x35) at += loaded >= operand ? yes : no;
    else if (code === 0x45) at += (loaded & operand) !== 0 ? yes : no;
    else throw new Error(`instruction ${code}`);
  }
  throw new Error('the filter ends without a verdict');
}

const allow = 0x7fff0000;
const pretended = 0x00050000;
const refused = 0x00050001;
const missing = 0x00050026;
const unsupported = 0x0005005f;

describe.each(['x64', 'arm64'] as Architecture[])('the filter of system calls for %s', (architecture) => {
  const filter = seccompFilter(architecture);
  const arch = auditArchitecture[architecture];
  const verdict = (nr: number, ...args: number[]) => verdictOf(filter, { arch, nr, args });
  const number = (name: Parameters<typeof numberOf>[0]) => numberOf(name, architecture)!;

  it('kills a caller of another architecture', () => {
    for (const other of [0x40000003, 0x40000028, 0]) expect(verdictOf(filter, { arch: other, nr: 1 })).toBe(0x80000000);
  });

  it('refuses each call on its list, and allows ordinary ones', () => {
    for (const name of refusedSyscalls)
      if (numberOf(name, architecture) !== null) expect(verdict(number(name))).toBe(refused);
    const listed = new Set(
      [...refusedSyscalls, 'clone3', 'fallocate', 'socket', 'personality'].map((name) =>
        numberOf(name as 'clone3', architecture),
      ),
    );
    const open = Array.from({ length: 451 }, (_, nr) => nr).filter((nr) => !listed.has(nr));
    expect(open.filter((nr) => verdict(nr) !== allow)).toEqual([]);
  });

  it('pretends only for an installer that owners and users change', () => {
    const installer = seccompFilter(architecture, { isInstaller: true });
    const answer = (nr: number, ...args: number[]) => verdictOf(installer, { arch, nr, args });
    const numbers = pretendedSyscalls.map((name) => numberOf(name, architecture)).filter((nr) => nr !== null);
    expect(new Set(numbers.map((nr) => answer(nr)))).toEqual(new Set([pretended]));
    expect(new Set(numbers.map((nr) => verdict(nr)))).toEqual(new Set([allow]));
    const types = [0o020000, 0o060000, 0o010000, 0o100000, 0o140000];
    expect(types.map((type) => answer(number('mknodat'), 3, 0, type))).toEqual([
      pretended,
      pretended,
      allow,
      allow,
      allow,
    ]);
    const others = Array.from({ length: 451 }, (_, nr) => nr).filter((nr) => !numbers.includes(nr as never));
    const differing = others.filter((nr) => answer(nr, 0, 0, 0) !== verdict(nr, 0, 0, 0));
    // the family of a socket is unknown instead of refused
    expect(differing).toEqual([number('socket')]);
  });

  it('allows no call that reserves space', () => {
    expect(verdict(number('fallocate'), 3, 0, 0, 1 << 30)).toBe(unsupported);
    const requests = [0x40305828, 0x4030582a, 0x40305839];
    expect(requests.map((request) => verdict(number('ioctl'), 3, request))).toEqual(Array(3).fill(unsupported));
  });

  it('allows only small segments of System V memory', () => {
    const sizes = [56, 4_096, 4_097, 2 ** 31, 2 ** 32, 2 ** 32 + 56];
    const verdicts = sizes.map((size) => verdict(number('shmget'), 1, size, 0o3600));
    expect(verdicts).toEqual([allow, allow, refused, refused, refused, refused]);
    expect(verdict(number('shmget'), 1, 56, 0o7600)).toBe(refused);
  });

  it('reports system calls newer than itself as not implemented', () => {
    for (const nr of [451, 500, 0x3fffffff]) expect(verdict(nr)).toBe(missing);
    expect(verdict(number('clone3'))).toBe(missing);
    expect(verdict(0x40000001)).toBe(missing);
  });

  it('checks the arguments of sockets, clones, terminals and personalities', () => {
    expect([2, 10].map((family) => verdict(number('socket'), family))).toEqual([allow, allow]);
    expect([0, 1, 16, 17, 38, 40].map((family) => verdict(number('socket'), family))).toEqual(Array(6).fill(refused));
    expect(verdict(number('clone'), 0x01200011)).toBe(allow);
    expect(verdict(number('clone'), 0x10000011)).toBe(refused);
    expect(verdict(number('ioctl'), 0, 0x5401)).toBe(allow);
    expect([0x5412, 0x541c].map((request) => verdict(number('ioctl'), 0, request))).toEqual([refused, refused]);
    expect([0, 0xffffffff, 8].map((persona) => verdict(number('personality'), persona))).toEqual([
      allow,
      allow,
      0x00050016,
    ]);
  });
});

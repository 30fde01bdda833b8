import { chownSync, lstatSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTreeOwner } from '../../../../activities/sandbox/tree-owner.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const uid = 20_123;

describe.runIf(process.getuid?.() === 0)('changing the owner of a tree', () => {
  let tree: string;
  const place = (path: string) => join(tree, path);
  const ownerOf = (path: string) => lstatSync(place(path)).uid;
  const write = (...paths: string[]) => {
    for (const path of paths) {
      mkdirSync(dirname(place(path)), { recursive: true });
      writeFileSync(place(path), 'text');
    }
  };
  /** Waits until a change can be distinguished from the earlier state. */
  const settle = () => sleep(40);
  beforeEach(() => {
    tree = temporaryDirectory();
    write('a/b/c.txt', 'a/d.txt', 'e.txt');
  });

  it('changes all of it, including links but not their targets', () => {
    const outside = temporaryDirectory();
    symlinkSync(outside, place('link'));
    createTreeOwner().give(tree, uid);
    for (const path of ['', 'a', 'a/b', 'a/b/c.txt', 'a/d.txt', 'e.txt', 'link']) expect(ownerOf(path)).toBe(uid);
    expect(lstatSync(outside).uid).toBe(0);
    rmSync(outside, { recursive: true });
  });

  it('changes names that are not UTF-8, and everything below them', () => {
    const odd = Buffer.concat([Buffer.from(place('a/')), Buffer.from([0xff])]);
    const file = Buffer.concat([odd, Buffer.from('/file')]);
    mkdirSync(odd);
    writeFileSync(file, 'text');
    createTreeOwner().give(tree, uid);
    expect([lstatSync(odd).uid, lstatSync(file).uid]).toEqual([uid, uid]);
  });

  it('changes what was added since, however it was added', async () => {
    const owner = createTreeOwner();
    owner.give(tree, uid);
    await settle();
    owner.give(tree, uid);
    for (const round of [1, 2, 3]) {
      await settle();
      write(`a/b/new-${round}.txt`, `a/deep-${round}/er/file.txt`, 'a/d.txt');
      write('aside/x/y.txt');
      renameSync(place('aside'), place(`a/moved-${round}`));
      rmSync(place('e.txt'));
      write('e.txt');
      owner.give(tree, uid);
      const paths = [
        `a/b/new-${round}.txt`,
        `a/deep-${round}/er/file.txt`,
        `a/moved-${round}/x/y.txt`,
        'e.txt',
        'a/d.txt',
      ];
      for (const path of paths) expect([path, ownerOf(path)]).toEqual([path, uid]);
    }
  });

  it('changes what was added right after a scan', () => {
    const owner = createTreeOwner();
    for (let round = 0; round < 50; round += 1) {
      owner.give(tree, uid);
      write(`a/b/round-${round}.txt`);
      owner.give(tree, uid);
      expect([round, ownerOf(`a/b/round-${round}.txt`)]).toEqual([round, uid]);
    }
  });

  it('changes a tree that replaced another', async () => {
    const owner = createTreeOwner();
    owner.give(tree, uid);
    await settle();
    owner.give(tree, uid);
    rmSync(place('a'), { recursive: true });
    write('a/b/c.txt', 'a/d.txt');
    owner.give(tree, uid);
    for (const path of ['a', 'a/b', 'a/b/c.txt', 'a/d.txt']) expect(ownerOf(path)).toBe(uid);
  });

  it('changes a tree to one user after another', async () => {
    const owner = createTreeOwner();
    owner.give(tree, uid);
    await settle();
    owner.give(tree, uid);
    chownSync(place('e.txt'), 0, 0);
    owner.give(tree, uid + 1);
    for (const path of ['', 'a', 'a/b/c.txt', 'e.txt']) expect(ownerOf(path)).toBe(uid + 1);
  });
});

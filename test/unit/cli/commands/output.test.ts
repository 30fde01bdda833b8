import { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { print, printList, printRecord } from '../../../../cli/commands/output.ts';

const printed: string[] = [];
beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation((line: string) => printed.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
  printed.length = 0;
});

/** A command of a program with `--json` on or off. */
function commandWith({ json }: { json: boolean }): Command {
  const program = new Command().option('--json');
  const command = program.command('list').action(() => {});
  program.parse(json ? ['--json', 'list'] : ['list'], { from: 'user' });
  return command;
}

const rows = [
  { name: 'one', at: new Date('2026-01-01T00:00:00Z'), tags: [] },
  { name: 'a longer name', at: null, tags: ['a', 'b'] },
];

const hostile = 'a\u001b]0;x\u0007\u001b[2K\r\u009b1A\u202eb\tc\nd';

it('lets no model output control the terminal or change the JSON', () => {
  print(hostile);
  printRecord(commandWith({ json: false }), { id: hostile });
  printList(commandWith({ json: false }), [{ id: hostile }], { id: ({ id }) => id });
  expect(printed.join('\n')).not.toMatch(/(?![\t\n])[\p{Cc}\u202e]/u);
  expect(printed[0]).toBe(String.raw`a\u001b]0;x\u0007\u001b[2K\u000d\u009b1A\u202eb` + '\tc\nd');
  printed.length = 0;
  printRecord(commandWith({ json: true }), { id: hostile });
  expect(printed[0]).not.toContain('\u009b');
  expect(JSON.parse(printed[0] ?? '')).toEqual({ id: hostile });
});

describe('for a person', () => {
  it('aligns a record and omits what is not set', () => {
    printRecord(commandWith({ json: false }), {
      id: 'x',
      createdAt: new Date(0),
      name: null,
      gone: undefined,
      tags: [],
    });
    expect(printed).toEqual(['id:        x', 'createdAt: 1970-01-01T00:00:00.000Z', 'tags:      -']);
  });

  it('prints the entries of a list of objects one by one', () => {
    const sources = [{ kind: 'website', labels: ['a', 'b'], skipped: [{ path: '/x' }] }, { kind: 'issues' }];
    printRecord(commandWith({ json: false }), { sources });
    expect(printed).toEqual([
      'sources.0.kind:           website',
      'sources.0.labels:         a, b',
      'sources.0.skipped.0.path: /x',
      'sources.1.kind:           issues',
    ]);
  });

  it('aligns a table without trailing spaces', () => {
    printList(commandWith({ json: false }), rows, {
      name: (row) => row.name,
      at: (row) => row.at,
      tags: (row) => row.tags.length,
    });
    expect(printed).toEqual([
      'name           at                        tags',
      'one            2026-01-01T00:00:00.000Z  0',
      'a longer name  -                         2',
    ]);
  });

  it('says that a list is empty', () => {
    printList(commandWith({ json: false }), [], { name: () => '' });
    expect(printed).toEqual(['(none)']);
  });
});

describe('with --json', () => {
  it('prints everything, in a machine-readable form', () => {
    printRecord(commandWith({ json: true }), { id: 'x', name: null });
    printList(commandWith({ json: true }), rows, { name: (row) => row.name });
    printList(commandWith({ json: true }), [], {});
    expect(printed.map((text) => JSON.parse(text))).toEqual([
      { id: 'x', name: null },
      JSON.parse(JSON.stringify(rows)),
      [],
    ]);
  });
});

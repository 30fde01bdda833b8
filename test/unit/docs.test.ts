import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createProgram } from '../../cli/commands/program.ts';
import { addEncryptionCommands } from '../../cli/operator/encryption.ts';
import { addOrganizationCommands } from '../../cli/operator/organization.ts';
import { routes } from '../../api/openapi/routes.ts';
import { blocksOf, checkout, documents, pages, readDocument } from '../support/documentation.ts';

/** Lines of a shell block with continuations joined and comments cut. */
function shellLines(file: string): string[] {
  return blocksOf(file)
    .filter(({ language }) => language === 'sh' || language === 'console')
    .flatMap(({ text }) => text.replaceAll('\\\n', ' ').split('\n'))
    .map((line) =>
      line
        .replace(/(^|\s)#.*$/, '')
        .replace(/^\$ /, '')
        .trim(),
    );
}

/** The words of a shell line up to its first operator, without quotes. */
function wordsOf(line: string): string[] {
  const words = line.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  const end = words.findIndex((word) => ['|', '<', '>', '>>', '&&', ';'].includes(word));
  return words.slice(0, end < 0 ? undefined : end).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
}

function anchorsOf(file: string): string[] {
  const headings = [
    ...readDocument(file)
      .replaceAll(/^```[\s\S]*?^```/gm, '')
      .matchAll(/^#+ (.*)$/gm),
  ];
  return headings.map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(/\s+/g, '-'),
  );
}

const neverRun = () => Promise.reject(new Error('No command runs here.'));
const docket = createProgram({ env: {}, readInput: neverRun, replay: null });
addOrganizationCommands(docket, neverRun);
addEncryptionCommands(docket, neverRun);

/** Returns what is wrong with a call of `docket`, or null. */
function problemWithCommand(words: string[]): string | null {
  let command: Command = docket;
  const rest = [...words];
  while (rest.length > 0) {
    const next = command.commands.find((candidate) => candidate.name() === rest[0]);
    if (next === undefined) break;
    command = next;
    rest.shift();
  }
  if (rest[0] === '--help') return null;
  if (command.commands.length > 0) return `there is no command ${words.join(' ')}`;
  const operands: string[] = [];
  while (rest.length > 0) {
    const word = rest.shift() ?? '';
    if (!word.startsWith('--')) operands.push(word);
    else {
      const option = [...command.options, ...docket.options].find(({ long }) => long === word);
      if (option === undefined) return `${command.name()} has no option ${word}`;
      if (option.required) rest.shift();
    }
  }
  const required = command.registeredArguments.filter((argument) => argument.required).length;
  const most = command.registeredArguments.at(-1)?.variadic === true ? Infinity : command.registeredArguments.length;
  if (operands.length < required || operands.length > most)
    return `${command.name()} takes other arguments than ${operands.join(' ')}`;
  return null;
}

describe.each(documents)('%s', (file) => {
  it('links to existing files and headings', () => {
    const text = readDocument(file).replaceAll(/^```[\s\S]*?^```/gm, '');
    const broken = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => {
        const [path = '', anchor] = target.split('#');
        const linked = path === '' ? file : join(dirname(file), path);
        if (!existsSync(join(checkout, linked))) return true;
        return anchor !== undefined && !anchorsOf(linked).includes(anchor);
      });
    expect(broken).toEqual([]);
  });

  it('uses existing scripts and commands, with their options', () => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readDocument('package.json')));
    const problems = shellLines(file).flatMap((line) => {
      const words = wordsOf(line.replaceAll(/ \[-[^\]]*\]/g, ''));
      const at = words.indexOf('docket') >= 0 ? words.indexOf('docket') : words.indexOf('cli/docket.ts');
      const isDocket = (words[0] === 'npm' && words[2] === 'docket') || words.includes('cli/docket.ts');
      const problem = isDocket ? problemWithCommand(words.slice(at + 1).filter((word) => word !== '--')) : null;
      const script = words[0] === 'npm' && words[1] === 'run' ? words[2] : undefined;
      return [problem, script === undefined || script in scripts ? null : `there is no script ${script}`].filter(
        (found) => found !== null,
      );
    });
    expect(problems).toEqual([]);
  });

  it('requests existing paths of the API', () => {
    const described = {
      paths: Object.fromEntries(Object.values(routes).map(({ path }) => [path.replace('+', ''), true])),
    };
    const known = Object.keys(described.paths).map(
      (path) =>
        new RegExp(
          `^${path
            .replaceAll('.', '\\.')
            .replace('{path}', '.+')
            .replaceAll(/\{\w+\}/g, '[^/]+')}$`,
        ),
    );
    const asked = shellLines(file).flatMap((line) =>
      [...line.matchAll(/"\$BASE(\/[^"?]*)/g)].map(([, path = '']) => path.replaceAll(/\$\w+/g, 'x')),
    );
    expect(asked.filter((path) => !known.some((pattern) => pattern.test(path)))).toEqual([]);
  });

  it('names variables that are read', () => {
    const listed = new Set(
      [
        ...`${readDocument('.env.example')}${readDocument('docker-compose.yml')}`.matchAll(/\b(DOCKET_[A-Z0-9_]+)/g),
      ].map(([, name]) => name),
    );
    const named = [...readDocument(file).matchAll(/\b(DOCKET_[A-Z0-9_]*[A-Z0-9])\b(?!_)(?!…)/g)].map(
      ([, name]) => name,
    );
    expect(named.filter((name) => !listed.has(name))).toEqual([]);
  });
});

it('shows no proxy that passes on the reader tokens of visitors', () => {
  const proxies = documents.flatMap(blocksOf).filter(({ text }) => text.includes('proxy_pass'));
  expect(proxies.length).toBeGreaterThan(0);
  for (const { text } of proxies) expect(text).toContain('proxy_set_header X-Reader-Token "";');
});

it('has every page in the navigation once, with a title and a description', () => {
  const groups = z.object({ navigation: z.object({ groups: z.array(z.object({ pages: z.array(z.string()) })) }) });
  const listed = groups
    .parse(JSON.parse(readDocument('docs/docs.json')))
    .navigation.groups.flatMap((group) => group.pages);
  expect(listed.map((page) => `${page}.md`).toSorted()).toEqual(pages.toSorted());
  for (const page of pages)
    expect(readDocument(`docs/${page}`)).toMatch(/^---\ntitle: .+\ndescription: .+\n(?:boost: .+\n)?---\n/);
});

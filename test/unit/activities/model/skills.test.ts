import { expect, it } from 'vitest';
import { skillsIn } from '../../../../activities/model/skills.ts';

const signal = new AbortController().signal;

/** Returns the names and descriptions of the skills in a commit with these files. */
async function skillsOf(files: Record<string, string>) {
  const workspaces = { readFile: ({ path }: { path: string }) => Promise.resolve(Buffer.from(files[path] ?? '')) };
  const access = { organizationId: 'org', repository: '/repository', credential: null, signal };
  const found = await skillsIn(
    { workspaces, maskSecrets: (text) => text },
    { access, commit: 'a'.repeat(40), files: Object.keys(files) },
  );
  return found.map(({ name, description, path }) => [path?.split('/skills/')[0], name, description]);
}

it('finds the skills of every folder that agents use, the first one of a name', async () => {
  const skill = (description: string) => `---\nname: notes\ndescription: ${description}\n---\nText.\n`;
  const folders = ['.docket', '.claude', '.github', '.agents'];
  for (const [at, folder] of folders.entries()) {
    const files = folders.slice(at).map((one) => [`${one}/skills/notes/SKILL.md`, skill(`Of ${one}`)]);
    expect(await skillsOf(Object.fromEntries(files.toReversed()))).toEqual([[folder, 'notes', `Of ${folder}`]]);
  }
});

it.each([
  ['a colon in its description', 'name: notes\ndescription: Use for notes. Triggers: "notes", changelog'],
  ['a byte order mark and CRLF', '\ufeff---\r\nname: notes\r\ndescription: >-\r\n  Use for\r\n  notes.\r\n---\r\n'],
  ['a title in place of a name', 'name: Release Notes\ndescription: Use for notes.'],
  ['no name', 'description: Use for notes.\nallowed-tools: Read, Write'],
])('takes a skill with %s', async (_, text) => {
  const content = text.includes('---') ? text : `---\n${text}\n---\n\nText.\n`;
  const expected = text.includes('Triggers') ? 'Use for notes. Triggers: "notes", changelog' : 'Use for notes.';
  expect(await skillsOf({ '.claude/skills/notes/SKILL.md': content })).toEqual([['.claude', 'notes', expected]]);
});

it.each([
  ['no front matter', 'description: Use for notes.\n'],
  ['no description', '---\nname: notes\n---\ndescription: of something else\n'],
  ['a description in a list', '---\nname: notes\ndescription: [a]\n---\n'],
])('takes no skill with %s', async (_, content) => {
  expect(await skillsOf({ '.claude/skills/notes/SKILL.md': content })).toEqual([]);
});

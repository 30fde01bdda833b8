import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createProjectCredentialReader } from '../../../db/for-worker/projects/projects.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { testKeys } from '../../support/database/encryption.ts';
import { createKeyPair } from '../../support/ssh/ssh-server.ts';
import { serveCommands } from './served.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

it('docket project reads an ssh key from a file or standard input, with its servers’ host keys, and encrypts it', async () => {
  await using served = await serveCommands();
  const { docket, docketJson, database } = served;
  await docket('org', 'grant', served.org, 'https://github.com/acme/*');
  const folder = temporaryDirectory();
  const [first, second] = [createKeyPair().private, createKeyPair().private];
  const files = { key: join(folder, 'key'), hosts: join(folder, 'hosts') };
  await writeFile(files.key, first);
  await writeFile(files.hosts, `# github.com:22 SSH-2.0\ngithub.com ssh-ed25519 ${'A'.repeat(68)}\n`);
  const create = ['project', 'create', '--repository', 'git@github.com:acme/docs.git'];
  await expect(docket(...create)).rejects.toThrow(/needs a project with an ssh key/);
  await expect(docket(...create, '--ssh-key', files.key)).rejects.toThrow(/ssh-keyscan github.com/);
  await expect(docket(...create, '--ssh-key', files.hosts)).rejects.toThrow(/must be a private key/);
  await expect(docket(...create, '--ssh-key', join(folder, 'none'))).rejects.toThrow(/cannot be read/);
  await expect(docket(...create, '--ssh-key', first)).rejects.toThrow(/must be the name of a file/);
  const created = await docket(...create, '--ssh-key', files.key, '--ssh-known-hosts', files.hosts, '--json');
  const { id, ...project } = JSON.parse(created);
  expect(project).toMatchObject({ repository: 'ssh://git@github.com/acme/docs', forge: 'github', hasSshKey: true });
  const credentials = createProjectCredentialReader(database.pool, createSecretBox(testKeys('k1')));
  expect((await credentials.read(id))?.sshKey()).toBe(first);

  served.input = second;
  expect(await docketJson('project', 'update', id, '--ssh-key-stdin')).toMatchObject({ hasSshKey: true });
  expect((await credentials.read(id))?.sshKey()).toBe(second);
  await expect(docket('project', 'update', id, '--remove-ssh-key')).rejects.toThrow(/needs a project with an ssh key/);
  const stored = JSON.stringify((await database.pool.query('select * from projects where id = $1', [id])).rows);
  for (const text of [created, stored]) expect(text).not.toContain(first.split('\n')[3]);
});

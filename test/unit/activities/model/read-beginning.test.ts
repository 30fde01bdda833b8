import { it } from 'vitest';
import { readBeginning } from '../../../../activities/model/read-beginning.ts';
import { createKnownScrubber } from '../../../../lib/redaction/known-scrubber.ts';
import { expectNoPart } from '../../../support/cut-secrets.ts';

it('shows no part of a secret that a guidance file is cut in', async () => {
  const { signal } = new AbortController();
  const access = { repository: '/srv/a.git', credential: null, organizationId: 'org_1', signal };
  await expectNoPart(async (text, secret) => {
    const workspaces = {
      readFile: async ({ maxBytes }: { maxBytes: number }) => Buffer.from(text).subarray(0, maxBytes),
    };
    const deps = { workspaces, maskSecrets: createKnownScrubber([secret]) };
    return (await readBeginning(deps, { access, commit: 'c', path: 'AGENTS.md', max: 1_024 })) ?? '';
  });
});

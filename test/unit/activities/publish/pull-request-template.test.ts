import { it } from 'vitest';
import { readPullRequestTemplate } from '../../../../activities/publish/pull-request-template.ts';
import { createKnownScrubber } from '../../../../lib/redaction/known-scrubber.ts';
import { expectNoPart } from '../../../support/cut-secrets.ts';

it('leaves no part of a secret that a template is cut in', async () => {
  const { signal } = new AbortController();
  const access = { repository: '/srv/a.git', credential: null, organizationId: 'org_1', signal };
  await expectNoPart(async (text, secret) => {
    const readFirst = async ({ maxBytes }: { maxBytes: number }) => ({
      path: 'a',
      content: Buffer.from(text).subarray(0, maxBytes),
    });
    const template = await readPullRequestTemplate({ readFirst }, { access, commit: 'c', forge: 'github' });
    return createKnownScrubber([secret])(template ?? '');
  });
});

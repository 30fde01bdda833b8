import { afterAll, describe, expect, it } from 'vitest';
import { buildMachineImage } from '../../support/sandbox/machine-image.ts';
import { accountsWithSandbox, openTestSandbox, type OpenSandbox } from '../../support/sandbox/sandbox.ts';
import { containmentCases } from './cases/containment.ts';
import { limitCases } from './cases/limits.ts';
import { networkCases } from './cases/network.ts';

const { accounts } = await accountsWithSandbox();
const image = accounts.length === 0 ? null : await buildMachineImage();
afterAll(() => image?.[Symbol.asyncDispose]());

describe.runIf(image !== null).each(image === null ? [] : accounts)(
  'a command in an image, as %s',
  { tags: 'slow' },
  (account) => {
    const open: OpenSandbox = (options) => openTestSandbox(account, { root: image?.root ?? null, ...options });
    describe('is contained', () => void containmentCases(account, open));
    describe('has limits', () => void limitCases(account, open));
    describe('has a network', () => void networkCases(account, open));

    it('has the variables of the image, but for those that the sandbox sets', async () => {
      await using sandbox = await open({ network: { hosts: ['registry.test'] } });
      const root = image && {
        ...image.root,
        variables: { GREETING: "it's", HOME: '/root', HTTP_PROXY: 'http://192.0.2.1', LD_PRELOAD: '/tree/x.so' },
      };
      const seen = await sandbox.output('echo "$GREETING $HOME $HTTP_PROXY"; ulimit -u', 0, { environment: { root } });
      expect(seen).toContain("it's /tmp http://127.0.0.1:3128\n");
      expect(seen).toMatch(/^64$/m);
    });

    it('finds none of the machine’s programs that the image lacks', async () => {
      await using sandbox = await open();
      expect(await sandbox.output('ls /usr/bin/openssl /usr/share/doc /usr/bin/apt-get /opt 2>&1; true')).not.toMatch(
        /^\//m,
      );
      // the mode of one of them would let every user write
      const places = '/.docket/sh /usr/bin/new /etc/docket/variables /bin/x /usr/local/new';
      expect(await sandbox.output(`for at in ${places}; do touch $at 2>/dev/null && echo $at; done; true`)).toBe('');
    });
  },
);

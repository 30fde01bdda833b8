import { describe } from 'vitest';
import { accountsWithSandbox, openTestSandbox } from '../../support/sandbox/sandbox.ts';
import { networkCases } from './cases/network.ts';

const { accounts } = await accountsWithSandbox();

describe.runIf(accounts.length > 0).each(accounts)('the network of a sandbox with hosts, as %s', (account) => {
  networkCases(account, (options) => openTestSandbox(account, options));
});

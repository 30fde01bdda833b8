import { describe } from 'vitest';
import { accountsWithSandbox, openTestSandbox } from '../../support/sandbox/sandbox.ts';
import { containmentCases } from './cases/containment.ts';

const { accounts } = await accountsWithSandbox();

describe.runIf(accounts.length > 0).each(accounts)('the sandbox of an account: %s', (account) => {
  containmentCases(account, (options) => openTestSandbox(account, options));
});

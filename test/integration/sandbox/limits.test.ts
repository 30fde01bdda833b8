import { describe } from 'vitest';
import { accountsWithSandbox, openTestSandbox } from '../../support/sandbox/sandbox.ts';
import { limitCases } from './cases/limits.ts';

const { accounts } = await accountsWithSandbox();

describe.runIf(accounts.length > 0).each(accounts)('the limits on commands of an account: %s', (account) => {
  limitCases(account, (options) => openTestSandbox(account, options));
});

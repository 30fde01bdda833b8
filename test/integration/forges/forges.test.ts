import { afterAll, beforeAll } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import type { FakeForge } from '../../support/forges/fake-forge.ts';
import { createFakeGithub, type FakeGithub } from '../../support/forges/fake-github.ts';
import { createFakeGitlab } from '../../support/forges/fake-gitlab.ts';
import { describeForge } from '../clients/forge-contract.ts';
import { githubStage, gitlabStage, localStage } from '../clients/forge-stage.ts';
import { describeGithub } from '../clients/forge-github.ts';
import { describeGitlab } from '../clients/forge-gitlab.ts';
import { describeFaults } from '../clients/forge-faults.ts';

let database: TestDatabase;
let github: FakeGithub;
let gitlab: FakeForge;
beforeAll(async () => {
  database = await createTestDatabase();
  github = await createFakeGithub();
  gitlab = await createFakeGitlab();
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await github[Symbol.asyncDispose]();
  await gitlab[Symbol.asyncDispose]();
});

describeForge(localStage(() => database));
describeForge(githubStage(() => github));
describeForge(gitlabStage(() => gitlab));
describeFaults({ stage: githubStage(() => github), fake: () => github });
describeFaults({ stage: gitlabStage(() => gitlab), fake: () => gitlab });
describeGithub(() => github);
describeGitlab(() => gitlab);

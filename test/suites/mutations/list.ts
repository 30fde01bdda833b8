import { accessMutations } from './access.ts';
import { administrationMutations } from './administration.ts';
import { answerMoneyMutations } from './sites/answer-money.ts';
import { answerMutations } from './sites/answers.ts';
import { boundMutations } from './bounds.ts';
import { cachingMutations } from './jobs/caching.ts';
import { moneyMutations } from './jobs/money.ts';
import { attackOneMutations } from './attacks-one.ts';
import { attackTwoMutations } from './attacks-two.ts';
import { attackFourMutations } from './attacks-four.ts';
import { attackThreeMutations } from './attacks-three.ts';
import { machineMutations } from './machine.ts';
import { imageMutations } from './jobs/images.ts';
import { guidanceMutations } from './jobs/guidance.ts';
import { linkMutations } from './links.ts';
import { noticeMutations } from './notices.ts';
import { capacityMutations } from './capacity.ts';
import { retentionMutations } from './retention.ts';
import { organizationMutations } from './organizations.ts';
import { descriptionMutations } from './jobs/descriptions.ts';
import { environmentMutations } from './jobs/environments.ts';
import { sandboxMutations } from './jobs/sandbox.ts';
import { sourceMutations } from './sites/sources.ts';
import { toolMutations } from './jobs/tools.ts';
import { readerMutations } from './sites/readers.ts';
import { readerSurfaceMutations } from './sites/reader-surfaces.ts';
import { lateAttemptMutations } from './jobs/late-attempts.ts';
import { growthMutations } from './growth.ts';
import { grantMutations } from './grants.ts';
import { waitMutations } from './jobs/waits.ts';

/** A check of the product, and the tests that fail without it. */
export interface Mutation {
  /** The guarantee that the mutation breaks. */
  name: string;
  file: string;
  /** The text of the check, which the file contains once. */
  find: string;
  replace: string;
  project: 'unit' | 'integration' | 'podman' | 'attacks' | 'e2e';
  /** Filters of test files. */
  tests: readonly string[];
}

export const mutations: Mutation[] = [
  ...sourceMutations,
  ...toolMutations,
  ...guidanceMutations,
  ...waitMutations,
  ...accessMutations,
  ...readerMutations,
  ...readerSurfaceMutations,
  ...administrationMutations,
  ...capacityMutations,
  ...retentionMutations,
  ...growthMutations,
  ...answerMoneyMutations,
  ...answerMutations,
  ...boundMutations,
  ...cachingMutations,
  ...moneyMutations,
  ...attackOneMutations,
  ...machineMutations,
  ...noticeMutations,
  ...lateAttemptMutations,
  ...grantMutations,
  ...organizationMutations,
  ...attackTwoMutations,
  ...attackThreeMutations,
  ...attackFourMutations,
  ...imageMutations,
  ...linkMutations,
  ...sandboxMutations,
  ...environmentMutations,
  ...descriptionMutations,
];

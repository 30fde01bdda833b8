import type { AppDeps } from '../app-deps.ts';
import type { AppRouter } from '../http/app-context.ts';
import type { JobCreation } from '../jobs/create-job.ts';
import { createAnalyticsRouter } from '../analytics/routes.ts';
import type { OpenedPages } from '../analytics/opened-pages.ts';
import { createEvaluationRouter } from '../evaluations/routes.ts';
import { createGaps } from './gaps.ts';
import { createReaderAccess } from '../access/reader-access.ts';
import type { RequestAccess } from '../access/request-access.ts';
import { createCaptchaVerifier } from '../access/verify-captcha.ts';
import { createChallengeRouter } from '../access/routes-challenge.ts';
import { createAssistantRouter } from '../assistant/routes.ts';
import { createRefusals } from '../http/error-handler.ts';
import { refusalOfStore } from '../http/store-refusals.ts';
import type { AnswerMcp } from '../mcp/answer-message.ts';
import { createMcpRouter } from '../mcp/routes.ts';
import { createRateAnswer } from './rate-answer.ts';
import { createDocumentRouter } from './routes-documents.ts';
import { createFeedbackRouter } from './routes-feedback.ts';
import { createGapsRouter } from './routes-gaps.ts';
import { createKeysRouter } from '../administration/routes-keys.ts';
import { createProjectSecretRouter } from '../administration/routes-project-secrets.ts';
import { createGuidanceRouter } from '../administration/routes-guidance.ts';
import { createMcpServerRouter } from '../administration/routes-mcp-servers.ts';
import { createProjectsRouter } from '../administration/routes-projects.ts';
import { createSearchRouter } from './routes-search.ts';
import { createSitesRouter } from './routes-sites.ts';
import { createThreadsRouter } from './routes-threads.ts';
import type { ThreadQueue } from '../../lib/threads/thread-queue.ts';
import { lazily } from '../../lib/lazily.ts';
import { createSecretBox } from '../../lib/encryption/secret-box.ts';
import { createSiteReader } from './site-reader.ts';
import { createSiteReading } from './site-reading.ts';

type SiteRouterDeps = AppDeps & { threadQueue: ThreadQueue; openedPages: OpenedPages };

/** Creates the routers with which an organization administers its sites. */
export function createAdministrationRouters(
  deps: SiteRouterDeps,
  requestAccess: RequestAccess,
  creation: JobCreation,
): AppRouter[] {
  const { config, stores } = deps;
  const readSite = createSiteReader(stores);
  const box = createSecretBox(config.encryptionKeys);
  const gapReader = createGaps({ ...stores, threadQueue: deps.threadQueue });
  const shared = {
    ...requestAccess,
    ...stores,
    readSite,
    repositories: config.repositories,
    budgets: config.budgets,
    problemWithModel: (name: string) => deps.models.problemWith(name),
  };
  return [
    createProjectsRouter({
      ...shared,
      onCancelled: deps.onJobCancelled,
    }),
    createGuidanceRouter(shared),
    createProjectSecretRouter(shared),
    createMcpServerRouter(shared),
    createSitesRouter({ ...shared, box }),
    createGapsRouter({
      ...shared,
      jobPolicy: { name: 'job', limit: config.rateLimits.jobsPerHour, windowSeconds: 3600 },
      gapReader,
      creation,
      onCreated: deps.onJobCreated,
    }),
    createAnalyticsRouter({ ...shared, gapReader }),
    createEvaluationRouter({
      ...shared,
      gapReader,
      defaultModel: config.models.assistant,
    }),
    createKeysRouter({ ...shared, box }),
  ];
}

/** Creates the routers for requests from readers and their pages. */
export function createAssistantRouters(deps: SiteRouterDeps, requestAccess: RequestAccess): AppRouter[] {
  const { assistant: parts, stores, config, log } = deps;
  const { admit } = requestAccess;
  const readSite = createSiteReader(stores);
  const box = createSecretBox(config.encryptionKeys);
  const readerAccess = createReaderAccess({ ...stores, box });
  const verifyCaptcha = createCaptchaVerifier({
    verifyUrl: config.captchaVerifyUrl,
    onFailure: (error) => log.warn({ err: error }, 'a CAPTCHA could not be verified'),
  });
  const rateAnswer = createRateAnswer(stores);
  const reading = createSiteReading({ ...stores, ...parts, openedPages: deps.openedPages, log });
  const shared = { admit, readSite, readerAccess, reading };
  const refusalOf = createRefusals({ refusalOfStore });
  const mcpAnswers = lazily(async () => {
    const { createMcpAnswers } = await import('../mcp/answer-message.ts');
    return createMcpAnswers({ ...requestAccess, ...parts, ...shared, rateAnswer, refusalOf, log });
  });
  const answerMessage: AnswerMcp = async (...message) => (await mcpAnswers())(...message);
  return [
    createAssistantRouter({ ...requestAccess, ...parts, readSite, readerAccess, logger: log }),
    createChallengeRouter({ ...requestAccess, keys: stores.keys, box, verifyCaptcha }),
    createSearchRouter(shared),
    createDocumentRouter(shared),
    createFeedbackRouter({ ...stores, admit, readSite, rateAnswer }),
    createMcpRouter({ ...requestAccess, ...parts, ...shared, answerMessage }),
    createThreadsRouter({ admit, readSite, threads: parts.threads }),
  ];
}

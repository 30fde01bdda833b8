import type { AuditEntry } from '../../db/organizations/audit.ts';
import type { KeyRow } from '../../db/organizations/keys.ts';
import type { ProjectRow } from '../../db/organizations/projects.ts';
import type { AddedSource, IndexReport } from '../../db/sites/site-sources.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import { repositoryUrl } from '../../lib/inputs/repository.ts';
import type { PublicAuditEntry, PublicKey } from './key-schemas.ts';
import type { PublicProject } from './project-schemas.ts';
import type { PublicSite } from '../sites/site-schemas.ts';

export function presentProject(row: ProjectRow): PublicProject {
  return {
    id: row.id,
    name: row.name,
    repository: repositoryUrl(row.repository),
    defaultRef: row.defaultRef,
    model: row.model,
    models: row.model === null ? null : [row.model, ...row.fallbackModels],
    reasoningEffort: row.reasoningEffort,
    maxOutputTokens: row.maxOutputTokens,
    forge: row.forge,
    forgeUrl: row.forgeUrl,
    allowedRepositories: row.allowedRepositories.map(repositoryUrl),
    reviewers: row.reviewers,
    labels: row.labels,
    assignees: row.assignees,
    allowedPaths: row.allowedPaths,
    mayChangeWorkflows: row.mayChangeWorkflows,
    mayRun: row.mayRun,
    plan: row.planReview ? 'review' : 'none',
    ask: row.mayAsk,
    selfReview: row.selfReview,
    checkCommand: row.checkCommand,
    environment: row.environment,
    fetchHosts: row.fetchHosts,
    jobBudgetUsd: row.jobBudgetMicros === null ? null : row.jobBudgetMicros / 1e6,
    dailyBudgetUsd: row.dailyBudgetMicros === null ? null : row.dailyBudgetMicros / 1e6,
    hasForgeToken: row.hasCredential,
    sshKnownHosts: row.sshKnownHosts,
    hasSshKey: row.hasSshKey,
    createdAt: row.createdAt.toISOString(),
  };
}

export function presentSite(row: SiteRow): PublicSite {
  const { indexFailure, indexFailureMessage, indexReport } = row;
  return {
    id: row.id,
    domain: row.domain,
    repository: row.repository === null ? null : repositoryUrl(row.repository),
    directory: row.directory,
    ref: row.ref,
    path: row.path,
    sources: row.sources.map(presentSource),
    baseUrl: row.baseUrl,
    retentionDays: row.retentionDays,
    refreshMinutes: row.refreshMinutes,
    answerBudgetUsd: row.answerBudgetMicros === null ? null : row.answerBudgetMicros / 1e6,
    instructions: row.instructions,
    starterQuestions: row.starterQuestions,
    queryRewriting: row.queryRewriting,
    unsupported: row.unsupported,
    contact: row.contact,
    requestsPerMinute: row.requestsPerMinute,
    requestsPerDay: row.requestsPerDay,
    indexGuard: row.guardSetId === null ? null : { questionSetId: row.guardSetId, margin: row.guardMargin ?? 0 },
    index: {
      version: row.indexVersion,
      pages: row.indexPages,
      indexedAt: row.indexedAt?.toISOString() ?? null,
      requestedAt: row.indexRequestedAt?.toISOString() ?? null,
      failure: indexFailure === null ? null : { category: indexFailure, message: indexFailureMessage ?? indexFailure },
      report: indexReport === null ? null : presentReport(indexReport),
    },
    readerTokens: row.readerTokens,
    createdAt: row.createdAt.toISOString(),
  };
}

function presentSource(source: AddedSource): PublicSite['sources'][number] {
  return source.kind === 'repository' ? { ...source, repository: repositoryUrl(source.repository) } : source;
}

function presentReport({
  layout,
  formats,
  skipped,
  sources = [],
  vectors,
}: IndexReport): PublicSite['index']['report'] {
  const counts = Object.entries(formats).flatMap(([format, pages]) => (pages === undefined ? [] : [[format, pages]]));
  return { layout, formats: Object.fromEntries(counts), skipped, sources, vectors: vectors ?? null };
}

export function presentKey(row: KeyRow): PublicKey {
  return {
    id: row.id,
    kind: row.kind,
    role: row.kind === 'admin' ? row.role : null,
    name: row.name,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    allowedOrigins: row.allowedOrigins,
    allowsNoOrigin: row.allowsNoOrigin,
    proofOfWork: row.proofOfWork,
    captcha: row.captcha,
    requestsPerMinute: row.requestsPerMinute,
    requestsPerDay: row.requestsPerDay,
  };
}

export function presentAuditEntry(entry: AuditEntry): PublicAuditEntry {
  return {
    id: entry.id,
    at: entry.createdAt.toISOString(),
    actor: { keyId: entry.keyId, keyName: entry.keyName, sessionId: entry.sessionId, person: entry.person },
    action: entry.action,
    subject: entry.subject,
    subjectName: entry.subjectName,
    details: entry.details,
  };
}

import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Link, redirect } from '@tanstack/react-router';
import { Layout } from './components/layout.tsx';
import { messageOf } from './http/client.ts';
import { ErrorNote } from './components/notes.tsx';
import { readFilters } from './jobs/list/filters.ts';
import { conversationViews, narrowingOf, type ConversationSearch } from './assistant/views.ts';
import { pullViews, type PullView } from './pull-requests/views.ts';
import { readAuditFilters } from './settings/audit-filters.ts';
import { JobsPage } from './pages/jobs.tsx';
import type { Fields } from './pages/new-job.tsx';
import { searchTexts } from './search-texts.ts';

const rootRoute = createRootRoute({ component: Layout, notFoundComponent: NoPage });

function NoPage() {
  return (
    <ErrorNote title="Page not found" message="The dashboard has no page at this address.">
      <Link to="/jobs" className="button">
        All jobs
      </Link>
    </ErrorNote>
  );
}

const home = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/jobs' });
  },
});
/** The frame shows the sign-in at this address. The one-time link stays in the address until it is used. */
const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  component: () => null,
});
const jobs = createRoute({
  getParentRoute: () => rootRoute,
  path: '/jobs',
  validateSearch: readFilters,
  component: JobsPage,
});
const job = createRoute({
  getParentRoute: () => rootRoute,
  path: '/jobs/$projectId/$id',
  validateSearch: (search: Record<string, unknown>): { tab?: 'changes' } =>
    search['tab'] === 'changes' ? { tab: 'changes' } : {},
  component: lazyRouteComponent(() => import('./pages/job.tsx'), 'JobPage'),
});
const compare = createRoute({
  getParentRoute: () => rootRoute,
  path: '/compare',
  validateSearch: (search: Record<string, unknown>): { left: string; right: string } => ({
    left: String(search['left'] ?? ''),
    right: String(search['right'] ?? ''),
  }),
  component: lazyRouteComponent(() => import('./pages/compare.tsx'), 'ComparePage'),
});
const newJob = createRoute({
  getParentRoute: () => rootRoute,
  path: '/new',
  component: lazyRouteComponent(() => import('./pages/new-job.tsx'), 'NewJobPage'),
});

const pulls = createRoute({
  getParentRoute: () => rootRoute,
  path: '/pulls',
  validateSearch: (search: Record<string, unknown>): { state?: PullView } => {
    const state = pullViews.find((name) => name === search['state']);
    return state === undefined ? {} : { state };
  },
  component: lazyRouteComponent(() => import('./pages/pull-requests.tsx'), 'PullRequestsPage'),
});
const pull = createRoute({
  getParentRoute: () => rootRoute,
  path: '/pulls/$id',
  component: lazyRouteComponent(() => import('./pages/pull-request.tsx'), 'PullRequestPage'),
});

const playground = createRoute({
  getParentRoute: () => rootRoute,
  path: '/playground',
  validateSearch: (search: Record<string, unknown>): { site?: string; question?: string } =>
    searchTexts(search, 'site', 'question'),
  component: lazyRouteComponent(() => import('./pages/playground.tsx'), 'PlaygroundPage'),
});
const page = createRoute({
  getParentRoute: () => rootRoute,
  path: '/playground/page',
  validateSearch: (search: Record<string, unknown>): { site?: string; path?: string } =>
    searchTexts(search, 'site', 'path'),
  component: lazyRouteComponent(() => import('./pages/site-page.tsx'), 'SitePage'),
});
const conversations = createRoute({
  getParentRoute: () => rootRoute,
  path: '/conversations',
  validateSearch: (search: Record<string, unknown>): ConversationSearch => {
    const view = conversationViews.find((name) => name === search['view']);
    return { ...searchTexts(search, 'site', 'q'), ...(view && { view }), ...narrowingOf(search) };
  },
  component: lazyRouteComponent(() => import('./pages/conversations.tsx'), 'ConversationsPage'),
});
const gaps = createRoute({
  getParentRoute: () => rootRoute,
  path: '/gaps',
  validateSearch: (search: Record<string, unknown>): { site?: string; state?: 'dismissed' } => ({
    ...searchTexts(search, 'site'),
    ...(search['state'] === 'dismissed' ? { state: 'dismissed' } : {}),
  }),
  component: lazyRouteComponent(() => import('./pages/gaps.tsx'), 'GapsPage'),
});
const analytics = createRoute({
  getParentRoute: () => rootRoute,
  path: '/analytics',
  validateSearch: (
    search: Record<string, unknown>,
  ): { site?: string; days?: number; version?: string; language?: string } => {
    const days = Number(search['days']);
    return {
      ...searchTexts(search, 'site', 'version', 'language'),
      ...(Number.isInteger(days) && days >= 1 && days <= 365 && { days }),
    };
  },
  component: lazyRouteComponent(() => import('./pages/analytics.tsx'), 'AnalyticsPage'),
});
const evaluations = createRoute({
  getParentRoute: () => rootRoute,
  path: '/evaluations',
  validateSearch: (search: Record<string, unknown>): { site?: string; id?: string } =>
    searchTexts(search, 'site', 'id'),
  component: lazyRouteComponent(() => import('./pages/evaluations.tsx'), 'EvaluationsPage'),
});
const operations = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operations',
  component: lazyRouteComponent(() => import('./pages/operations.tsx'), 'OperationsPage'),
});
const settings = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  beforeLoad: () => {
    throw redirect({ to: '/settings/$part', params: { part: 'keys' } });
  },
});
const settingsPart = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings/$part',
  validateSearch: readAuditFilters,
  component: lazyRouteComponent(() => import('./pages/settings.tsx'), 'SettingsPage'),
});
const design = createRoute({
  getParentRoute: () => rootRoute,
  path: '/design',
  component: lazyRouteComponent(() => import('./pages/design.tsx'), 'DesignPage'),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    home,
    signIn,
    jobs,
    job,
    compare,
    newJob,
    pulls,
    pull,
    playground,
    page,
    conversations,
    gaps,
    analytics,
    evaluations,
    operations,
    settings,
    settingsPart,
    design,
  ]),
  defaultPreload: 'intent',
  scrollRestoration: true,
  // the router keeps the failure to load the code of a page, which may also be gone since an update of Docket
  defaultErrorComponent: ({ error }) => (
    <ErrorNote title="This page could not be displayed" message={messageOf(error)} onRetry={() => location.reload()} />
  ),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
  interface HistoryState {
    /** Initial values of a new job, such as those of a failed one. */
    again?: Partial<Fields>;
  }
}

import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import { messageOf } from '../http/client.ts';
import { NoWorkerDot } from '../jobs/no-worker.tsx';
import type { Session } from '../http/types.ts';
import { sessionQuery } from '../queries.ts';
import { AccountMenu } from './account-menu.tsx';
import { ErrorNote, Loading } from './notes.tsx';
import { OfflineBar } from './offline-bar.tsx';
import { Only, SessionContext } from './session.tsx';
import { ToastBar } from './toast-bar.tsx';

const SignIn = lazy(() => import('./sign-in.tsx').then(({ SignIn }) => ({ default: SignIn })));

const pages = [
  { to: '/jobs', label: 'Jobs' },
  { to: '/pulls', label: 'Pull requests' },
  { to: '/playground', label: 'Playground' },
  { to: '/conversations', label: 'Conversations' },
  { to: '/gaps', label: 'Gaps' },
  { to: '/analytics', label: 'Analytics' },
  { to: '/evaluations', label: 'Evaluations' },
  { to: '/operations', label: 'Operations' },
  { to: '/settings', label: 'Settings' },
] as const;

/** Frames every page, and says if the server does not respond. */
export function Layout() {
  return (
    <>
      <OfflineBar />
      <Content />
    </>
  );
}

/** Without a session, every address shows the sign-in page, and with one its own. */
function Content() {
  const session = useQuery(sessionQuery);
  const isSigningIn = useRouterState({ select: ({ location }) => location.pathname === '/sign-in' });
  if (session.data === null || (isSigningIn && session.data !== undefined))
    return (
      <Suspense>
        <SignIn current={session.data?.organization.name ?? null} />
      </Suspense>
    );
  if (session.data !== undefined) return <SignedIn session={session.data} />;
  return (
    <main className="alone">
      {session.isError ? (
        <ErrorNote
          title="Docket cannot be reached"
          message={messageOf(session.error)}
          onRetry={() => void session.refetch()}
        />
      ) : (
        <Loading />
      )}
    </main>
  );
}

function SignedIn({ session }: { session: Session }) {
  const [isOpen, setOpen] = useState(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  useEffect(() => setOpen(false), [path]);
  return (
    <SessionContext value={session}>
      <a className="skip" href="#content">
        Skip to content
      </a>
      <ToastBar />
      <div className="frame">
        <header className="side" data-open={isOpen || undefined}>
          <div className="side-top">
            <Link to="/jobs" className="brand">
              <img src="/icon.svg" alt="" width="26" height="26" /> Docket
            </Link>
            <Button
              className="button menu-button"
              aria-expanded={isOpen}
              aria-controls="pages"
              onPress={() => setOpen(!isOpen)}
            >
              Menu
            </Button>
          </div>
          <nav id="pages" aria-label="Pages">
            <Only role="member">
              <Link to="/new" className="button button-primary new-job">
                New job
              </Link>
            </Only>
            {pages.map(({ to, label }) => (
              <Link key={to} to={to} className="nav-link" activeProps={{ 'aria-current': 'page' }}>
                {label}
                {to === '/operations' && <NoWorkerDot />}
              </Link>
            ))}
            <AccountMenu session={session} />
          </nav>
        </header>
        <main id="content" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
    </SessionContext>
  );
}

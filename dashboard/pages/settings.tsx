import { Link, Navigate, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { EmptyNote } from '../components/notes.tsx';
import { may, useSession, type Role } from '../components/session.tsx';
import { AuditPage } from '../settings/audit.tsx';
import { KeysPage } from '../settings/keys.tsx';
import { ProjectsPage } from '../settings/projects.tsx';
import { SitesPage } from '../settings/sites.tsx';
import { WebhooksPage } from '../settings/webhooks.tsx';
import { useTitle } from '../use-title.ts';
import '../styles/job.css';
import '../styles/settings.css';

interface Part {
  label: string;
  Page: () => ReactNode;
  /** Lowest role that sees it. */
  role: Role;
}

const parts: Record<string, Part> = {
  keys: { label: 'API keys', Page: KeysPage, role: 'admin' },
  projects: { label: 'Projects', Page: ProjectsPage, role: 'viewer' },
  sites: { label: 'Sites', Page: SitesPage, role: 'viewer' },
  webhooks: { label: 'Webhooks', Page: WebhooksPage, role: 'admin' },
  audit: { label: 'Log', Page: AuditPage, role: 'admin' },
};

/** Shows the settings. Each part has its own address. */
export function SettingsPage() {
  const { part } = useParams({ from: '/settings/$part' });
  const session = useSession();
  const shown = Object.entries(parts).find(([name]) => name === part)?.[1];
  useTitle(shown?.label ?? 'Settings');
  if (shown !== undefined && !may(session, shown.role))
    return <Navigate to="/settings/$part" params={{ part: 'projects' }} replace />;
  const visible = Object.entries(parts).filter(([, { role }]) => may(session, role));
  return (
    <>
      <h1>Settings</h1>
      <nav className="tab-list settings-parts" aria-label="Settings">
        {visible.map(([name, { label }]) => (
          <Link
            key={name}
            to="/settings/$part"
            params={{ part: name }}
            className="tab"
            activeProps={{ 'aria-current': 'page', 'data-selected': true }}
          >
            {label}
          </Link>
        ))}
      </nav>
      <div className="settings">{shown === undefined ? <EmptyNote title="Page not found" /> : <shown.Page />}</div>
    </>
  );
}

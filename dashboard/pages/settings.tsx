import { Link, useParams } from '@tanstack/react-router';
import { EmptyNote } from '../components/notes.tsx';
import { AuditPage } from '../settings/audit.tsx';
import { KeysPage } from '../settings/keys.tsx';
import { ProjectsPage } from '../settings/projects.tsx';
import { SitesPage } from '../settings/sites.tsx';
import { WebhooksPage } from '../settings/webhooks.tsx';
import { useTitle } from '../use-title.ts';
import '../styles/job.css';
import '../styles/settings.css';

const parts = {
  keys: { label: 'API keys', Page: KeysPage },
  projects: { label: 'Projects', Page: ProjectsPage },
  sites: { label: 'Sites', Page: SitesPage },
  webhooks: { label: 'Webhooks', Page: WebhooksPage },
  audit: { label: 'Log', Page: AuditPage },
};

/** Shows the settings. Each part has its own address. */
export function SettingsPage() {
  const { part } = useParams({ from: '/settings/$part' });
  const shown = Object.entries(parts).find(([name]) => name === part)?.[1];
  useTitle(shown?.label ?? 'Settings');
  return (
    <>
      <h1>Settings</h1>
      <nav className="tab-list settings-parts" aria-label="Settings">
        {Object.entries(parts).map(([name, { label }]) => (
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

import { Link } from '@tanstack/react-router';
import { EmptyNote } from './notes.tsx';
import { Only, useSession } from './session.tsx';

/** Shows the organization's sites to choose one. Shows nothing when there is only one. */
export function SiteChoice({ domain, onChange }: { domain: string; onChange(domain: string): void }) {
  const { sites } = useSession();
  if (sites.length < 2) return null;
  return (
    <label className="inline-field">
      <span>Site</span>
      <select value={domain} onChange={({ target }) => onChange(target.value)}>
        {sites.map((site) => (
          <option key={site.domain}>{site.domain}</option>
        ))}
      </select>
    </label>
  );
}

/** Shows a page that needs a site while there is none. */
export function NoSites({ title }: { title: string }) {
  return (
    <>
      <h1>{title}</h1>
      <EmptyNote title="No sites yet">
        <p>A site is documentation that the assistant answers from.</p>
        <Only role="admin">
          <Link to="/settings/$part" params={{ part: 'sites' }} className="button">
            Create a site
          </Link>
        </Only>
      </EmptyNote>
    </>
  );
}

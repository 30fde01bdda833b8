import type { NavigateOptions } from '@tanstack/react-router';
import type { Theme } from '../../theme.ts';
import type { Session } from '../../http/types.ts';
import { may, type Role } from '../session.tsx';

export interface Command {
  label: string;
  to?: NavigateOptions;
  theme?: Theme;
  /** Lowest role that may use it; any by default. */
  role?: Role;
}

const pages: Command[] = [
  { label: 'Jobs', to: { to: '/jobs' } },
  { label: 'Pull requests', to: { to: '/pulls' } },
  { label: 'Playground', to: { to: '/playground' } },
  { label: 'Conversations', to: { to: '/conversations' } },
  { label: 'Gaps', to: { to: '/gaps' } },
  { label: 'Analytics', to: { to: '/analytics' } },
  { label: 'Evaluations', to: { to: '/evaluations' } },
  { label: 'Operations', to: { to: '/operations' } },
  { label: 'Settings: API keys', to: { to: '/settings/$part', params: { part: 'keys' } }, role: 'admin' },
  { label: 'Settings: projects', to: { to: '/settings/$part', params: { part: 'projects' } } },
  { label: 'Settings: sites', to: { to: '/settings/$part', params: { part: 'sites' } } },
  { label: 'Settings: webhooks', to: { to: '/settings/$part', params: { part: 'webhooks' } }, role: 'admin' },
  { label: 'Settings: log', to: { to: '/settings/$part', params: { part: 'audit' } }, role: 'admin' },
];

const actions: Command[] = [
  { label: 'New job', to: { to: '/new' }, role: 'member' },
  { label: 'Show running jobs', to: { to: '/jobs', search: { status: 'running' } } },
  { label: 'Show failed jobs', to: { to: '/jobs', search: { status: 'failed' } } },
];

/** Reports whether each word of a text occurs in another. */
export function hasWords(content: string, text: string): boolean {
  const all = content.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/**
 * Returns the commands that match a text and that the owner of a session may use: each word of the text occurs in the
 * label. An id of a pull request is a page.
 */
export function commandsFor(
  text: string,
  themes: readonly Theme[],
  session: Pick<Session, 'role'>,
): { pages: Command[]; actions: Command[] } {
  const isWanted = ({ label, role = 'viewer' }: Command) => may(session, role) && hasWords(label, text);
  const id = /^\s*(pr_\w+)\s*$/.exec(text)?.[1];
  const pull: Command[] =
    id === undefined ? [] : [{ label: `Pull request ${id}`, to: { to: '/pulls/$id', params: { id } } }];
  const themeActions = themes.map((theme): Command => ({ label: `Theme: ${theme}`, theme }));
  return { pages: [...pull, ...pages.filter(isWanted)], actions: [...actions, ...themeActions].filter(isWanted) };
}

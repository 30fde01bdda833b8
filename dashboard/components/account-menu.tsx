import { Link } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { Button } from 'react-aria-components';
import { forgetDrafts } from '../drafts.ts';
import { answerOf, api, done, messageOf } from '../http/client.ts';
import { noteSignedOut } from '../http/signed-in.ts';
import type { Session } from '../http/types.ts';
import { NotificationSwitch } from '../notifications/notification-switch.tsx';
import { plain } from '../plain.ts';
import { endSession, startAnew } from '../queries.ts';
import { showToast } from './toasts.ts';
import { PaletteButton } from './palette/palette-button.tsx';
import { Shortcuts } from './palette/shortcuts.tsx';
import { applyTheme, onTheme, storedTheme, themes } from '../theme.ts';

/** Site of Docket's own documentation, which `npm start` creates. */
const documentationSite = 'docket';

async function signOut(): Promise<void> {
  await done(api.DELETE('/v1/session'));
  noteSignedOut();
  forgetDrafts();
  endSession();
}

async function switchTo(id: string): Promise<void> {
  try {
    await answerOf(api.POST('/v1/session/organization', { body: { id } }));
    startAnew();
  } catch (error) {
    showToast({ text: messageOf(error), undo: null });
  }
}

/** Shows who is signed in to which organization, and switches to another. */
function Organizations({ session: { organization, organizations, person, role } }: { session: Session }) {
  return (
    <details className="account-organizations">
      <summary className="quiet">
        {plain(organization.name)}
        {person !== null && ` · ${plain(person)}`}
        {role !== 'admin' && ` · ${role}`}
      </summary>
      {organizations.slice(1).map(({ id, name }) => (
        <Button key={id} className="button button-quiet" onPress={() => void switchTo(id)}>
          {plain(name)}
        </Button>
      ))}
      <Link className="button button-quiet" to="/sign-in">
        Add organization
      </Link>
    </details>
  );
}

/** Shows the account, the theme and the sign-out button at the foot of the sidebar. */
export function AccountMenu({ session }: { session: Session }) {
  const theme = useSyncExternalStore(onTheme, storedTheme);
  return (
    <div className="account">
      <Organizations session={session} />
      <label className="account-theme">
        <span>Theme</span>
        <select
          value={theme}
          onChange={({ target }) => applyTheme(themes.find((name) => name === target.value) ?? 'system')}
        >
          {themes.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <NotificationSwitch session={session} />
      <PaletteButton />
      <Shortcuts />
      {session.sites.some(({ domain }) => domain === documentationSite) && (
        <Link className="button button-quiet" to="/playground" search={{ site: documentationSite }}>
          Help
        </Link>
      )}
      <Button className="button" onPress={() => void signOut()}>
        Sign out
      </Button>
    </div>
  );
}

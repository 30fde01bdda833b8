import { useMutation } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { Button, FieldError, Form, Input, Label, TextField } from 'react-aria-components';
import { answerOf, api, messageOf } from '../http/client.ts';
import { plain } from '../plain.ts';
import { wasSignedIn } from '../http/signed-in.ts';
import { queryClient, sessionQuery, startAnew } from '../queries.ts';

type Credential = { key: string } | { link: string };

/** Removes the one-time link from the address at once, so that it does not stay in the browser's history. */
function takeLink(): string | null {
  const link = /^#link=([\w.-]+)$/.exec(location.hash)?.[1] ?? null;
  if (link !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return link;
}

/**
 * Shown at every address while there is no session; the address stays the same after sign-in. Signs in to another
 * organization where there is one, its name being `current`.
 */
export function SignIn({ current = null }: { current?: string | null }) {
  const [hasEnded] = useState(() => current === null && wasSignedIn());
  const signIn = useMutation({
    mutationFn: (credential: Credential) => answerOf(api.POST('/v1/session', { body: credential })),
    onSuccess() {
      if (current !== null) startAnew();
      else if (location.pathname === '/sign-in') location.replace('/jobs');
      else return queryClient.refetchQueries({ queryKey: sessionQuery.queryKey });
      return undefined;
    },
  });
  const useLink = useEffectEvent(() => {
    const link = takeLink();
    if (link !== null) signIn.mutate({ link });
  });
  useEffect(() => {
    document.title = 'Sign in · Docket';
    useLink();
    addEventListener('hashchange', useLink);
    return () => removeEventListener('hashchange', useLink);
  }, []);
  return (
    <main className="alone">
      <div className="sign-in">
        <img src="/icon.svg" alt="" width="44" height="44" />
        <h1>Sign in to Docket</h1>
        <Why hasEnded={hasEnded} signIn={signIn} />
        {current !== null && (
          <p>
            You are still signed in to {plain(current)}. <a href="/jobs">Go back</a>
          </p>
        )}
        <p className="quiet">
          Use an admin key of your organization. If Docket runs with <code>npm start</code>, the terminal shows a link
          that signs you in, and a key is in <code>.docket/local.json</code>.
        </p>
        <Form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            const key = new FormData(event.currentTarget).get('key');
            if (typeof key === 'string') signIn.mutate({ key: key.trim() });
          }}
        >
          <TextField name="key" type="password" isRequired autoComplete="current-password" className="field">
            <Label className="label">Admin key</Label>
            <Input className="input code" placeholder="svc_…" spellCheck={false} />
            <FieldError className="field-error" />
          </TextField>
          <Button type="submit" className="button button-primary wide" isDisabled={signIn.isPending}>
            {signIn.isPending ? 'Signing in…' : 'Sign in'}
          </Button>
        </Form>
      </div>
    </main>
  );
}

interface Try {
  isError: boolean;
  isPending: boolean;
  error: unknown;
  variables: Credential | undefined;
}

/** Explains why sign-in is required, or why the last attempt was refused. */
function Why({ hasEnded, signIn }: { hasEnded: boolean; signIn: Try }) {
  if (signIn.isError && signIn.variables !== undefined && 'link' in signIn.variables) {
    return (
      <div className="note note-error" role="alert">
        <p>
          <strong>This sign-in link does not work.</strong>
        </p>
        <p>
          {messageOf(signIn.error)} <code>npm run docket -- sign-in</code> prints another.
        </p>
      </div>
    );
  }
  if (signIn.isError) {
    return (
      <p className="note note-error" role="alert">
        {messageOf(signIn.error)}
      </p>
    );
  }
  if (!hasEnded || signIn.isPending) return null;
  return (
    <p className="note" role="status">
      Your session has ended. Sign in again to return to this page.
    </p>
  );
}

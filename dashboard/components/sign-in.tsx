import { useMutation } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import { Button, FieldError, Form, Input, Label, TextField } from 'react-aria-components';
import { answerOf, api, messageOf } from '../http/client.ts';
import { queryClient, sessionQuery } from '../queries.ts';

type Credential = { key: string } | { link: string };

/** Takes the one-time link out of the address at once, so that it stays in no history. */
function takeLink(): string | null {
  const link = /^#link=([\w.-]+)$/.exec(location.hash)?.[1] ?? null;
  if (link !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return link;
}

export function SignIn() {
  const signIn = useMutation({
    mutationFn: (credential: Credential) => answerOf(api.POST('/v1/session', { body: credential })),
    onSuccess: () => queryClient.refetchQueries({ queryKey: sessionQuery.queryKey }),
  });
  const useLink = useEffectEvent(() => {
    const link = takeLink();
    if (link !== null) signIn.mutate({ link });
  });
  useEffect(() => {
    useLink();
    addEventListener('hashchange', useLink);
    return () => removeEventListener('hashchange', useLink);
  }, []);
  return (
    <main className="alone">
      <div className="sign-in">
        <img src="/icon.svg" alt="" width="44" height="44" />
        <h1>Sign in to Docket</h1>
        <p className="quiet">
          With an admin key. <code>npm start</code> prints a link that signs in, and keeps a key in{' '}
          <code>.docket/local.json</code>.
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
            <Label>Admin key</Label>
            <Input className="input code" placeholder="svc_…" spellCheck={false} />
            <FieldError className="field-error" />
          </TextField>
          {signIn.isError && (
            <p className="field-error" role="alert">
              {messageOf(signIn.error)}
            </p>
          )}
          <Button type="submit" className="button button-primary" isDisabled={signIn.isPending}>
            {signIn.isPending ? 'Signing in…' : 'Sign in'}
          </Button>
        </Form>
      </div>
    </main>
  );
}

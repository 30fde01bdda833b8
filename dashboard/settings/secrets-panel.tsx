import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ActionForm } from '../components/action-form.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Field } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { answerOf, api, done } from '../http/client.ts';
import { queryClient } from '../queries.ts';

/** Shows the names of the secrets of a project's setup, and a form that sets one. */
export function SecretsPanel({ projectId }: { projectId: string }) {
  const params = { path: { id: projectId } };
  const queryKey = ['secrets', projectId];
  const refresh = () => queryClient.invalidateQueries({ queryKey });
  const secrets = useQuery({
    queryKey,
    queryFn: () => answerOf(api.GET('/v1/projects/{id}/secrets', { params })),
  });
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const set = useMutation({
    async mutationFn() {
      await answerOf(api.POST('/v1/projects/{id}/secrets', { params, body: { name: name.trim(), value } }));
      setName('');
      setValue('');
      await refresh();
    },
  });
  return (
    <ActionForm label="Save secret" action={set}>
      <h3>Setup secrets</h3>
      <Loaded query={secrets} problem="Secrets could not be loaded">
        {({ secrets: known }) => (
          <>
            {known.map((secret) => (
              <div key={secret.name} className="actions">
                <code>{secret.name}</code>
                <Confirm
                  label="Delete"
                  what="Delete"
                  title={`Delete ${secret.name}?`}
                  text="Later setups run without it."
                  act={() => {
                    const path = { id: projectId, name: secret.name };
                    return done(api.DELETE('/v1/projects/{id}/secrets/{name}', { params: { path } }));
                  }}
                  onDone={refresh}
                />
              </div>
            ))}
          </>
        )}
      </Loaded>
      <Field label="Name" name="name" value={name} onChange={setName} isRequired isCode placeholder="NPM_TOKEN" />
      <Field
        label="Value"
        name="value"
        value={value}
        onChange={setValue}
        isRequired
        type="password"
        hint="An environment variable of the setup. Agents cannot read it, and it is never shown again."
      />
    </ActionForm>
  );
}

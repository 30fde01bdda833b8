import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ActionForm } from '../components/action-form.tsx';
import { Check, Field, linesOf } from '../components/fields.tsx';
import { answerOf, api } from '../http/client.ts';
import type { Key } from '../http/types.ts';

interface OriginsDraft {
  /** One per line. */
  allowedOrigins: string;
  allowsNoOrigin: boolean;
}

export const noOrigins: OriginsDraft = { allowedOrigins: '', allowsNoOrigin: false };

/** Returns the fields of a request. */
export function originsOf({ allowedOrigins, allowsNoOrigin }: OriginsDraft) {
  return { allowedOrigins: linesOf(allowedOrigins), allowsNoOrigin };
}

/** Shows the fields that say where an assistant key may be used. */
export function OriginFields({ draft, onChange }: { draft: OriginsDraft; onChange(draft: OriginsDraft): void }) {
  return (
    <>
      <Field
        label="Allowed websites, one origin per line"
        value={draft.allowedOrigins}
        onChange={(allowedOrigins) => onChange({ ...draft, allowedOrigins })}
        rows={3}
        isCode
        placeholder="https://docs.example.com"
        hint="Empty for all. https://*.example.com allows any one name in the place of the *."
      />
      {draft.allowedOrigins.trim() !== '' && (
        <Check
          label="Also allow requests from no website, such as servers and agents"
          isSelected={draft.allowsNoOrigin}
          onChange={(allowsNoOrigin) => onChange({ ...draft, allowsNoOrigin })}
        />
      )}
    </>
  );
}

/** Shows where an assistant key may be used, and changes it. */
export function KeyOrigins({ row, onSaved }: { row: Key; onSaved(): unknown }) {
  const { id, allowedOrigins, allowsNoOrigin } = row;
  const [draft, setDraft] = useState<OriginsDraft>({ allowedOrigins: allowedOrigins.join('\n'), allowsNoOrigin });
  const save = useMutation({
    mutationFn: () => answerOf(api.PATCH('/v1/keys/{id}', { params: { path: { id } }, body: originsOf(draft) })),
    onSuccess: onSaved,
  });
  return (
    <details className="inner">
      <summary>{allowedOrigins.length === 0 ? 'Any website' : allowedOrigins.join(', ')}</summary>
      <ActionForm label="Save" action={save} name="Allowed websites">
        <OriginFields draft={draft} onChange={setDraft} />
      </ActionForm>
    </details>
  );
}

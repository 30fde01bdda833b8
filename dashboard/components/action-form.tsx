import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { Button } from 'react-aria-components';
import type { Draft } from '../drafts.ts';
import { FormError, Problem } from './fields.tsx';
import { useMay, type Role } from './session.tsx';

interface ActionFormProps {
  /** Label of the submit button. */
  label: string;
  action: { isPending: boolean; isSuccess: boolean; error: unknown; mutate(): void };
  /** Values of the fields. Without it, they are lost when the user leaves the form. */
  draft?: Pick<Draft<object>, 'isChanged' | 'forget'>;
  children: ReactNode;
  /** Accessible name, which makes the form a landmark of the page. */
  name?: string;
  /** Role that the action needs. Default `admin`. */
  role?: Role;
}

/**
 * Shows a form for one action: its fields, the submit button, and the error if it was refused, at the field that it is
 * about or beside the button. Without the role that the action needs, the fields cannot be changed.
 */
export function ActionForm({ label, action, draft, children, name, role = 'admin' }: ActionFormProps) {
  const may = useMay(role);
  const form = useRef<HTMLFormElement>(null);
  const [corrected, setCorrected] = useState<unknown>(null);
  const error = action.error === corrected ? null : action.error;
  const [isAtField, setAtField] = useState(false);
  useLayoutEffect(() => {
    const field = error === null ? null : form.current?.querySelector<HTMLElement>('[aria-invalid=true]');
    setAtField(field != null);
    if (field == null) return;
    reveal(field);
    field.focus();
  }, [error]);
  const [hadChanges] = useState(draft?.isChanged === true);
  useEffect(() => {
    if (hadChanges && form.current !== null) reveal(form.current);
  }, [hadChanges]);
  return (
    <form
      ref={form}
      className="form"
      aria-label={name}
      onInput={() => setCorrected(action.error)}
      onSubmit={(event) => {
        event.preventDefault();
        if (!action.isPending) action.mutate();
      }}
    >
      {may ? (
        <>
          <FormError value={error}>{children}</FormError>
          {!isAtField && <Problem error={error} />}
          <div className="actions">
            {/* a disabled button would lose the focus */}
            <Button type="submit" className="button button-primary" aria-disabled={action.isPending}>
              {label}
            </Button>
            {draft?.isChanged === true && !action.isPending && (
              <Button
                className="button button-quiet"
                onPress={() => {
                  draft.forget();
                  form.current?.querySelector<HTMLElement>('[type=submit]')?.focus();
                }}
              >
                Discard changes
              </Button>
            )}
            {action.isSuccess && draft?.isChanged !== true && <span role="status">Saved.</span>}
          </div>
        </>
      ) : (
        <fieldset className="form-locked" disabled>
          {children}
          <p className="hint">Requires the {role} role.</p>
        </fieldset>
      )}
    </form>
  );
}

/** Opens what an element is folded into. */
function reveal(element: Element): void {
  const folded = element.closest('details');
  if (folded === null) return;
  folded.open = true;
  if (folded.parentElement !== null) reveal(folded.parentElement);
}
